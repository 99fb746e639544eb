#include "privatize/rank_memory.hpp"

#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "base/fd.hpp"
#include "base/platform.hpp"
#include "privatize/rank_slots.hpp"
#include "privatize/rank_state.hpp"

namespace tmpi::privatize {
namespace {

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::array<char, 5> permissions{};
  std::string file;  // empty: none

  bool readable() const noexcept { return permissions[0] == 'r'; }
  bool writable() const noexcept { return permissions[1] == 'w'; }
  bool shared() const noexcept { return permissions[3] == 's'; }
  int protection() const noexcept {
    return (readable() ? PROT_READ : 0) | (writable() ? PROT_WRITE : 0) |
           (permissions[2] == 'x' ? PROT_EXEC : 0);
  }
};

struct CloseFile {
  void operator()(FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

using Mappings = std::vector<Mapping>;

/// Those of the process that lie in slots, in their order.
Result<Mappings> read_mappings() {
  const File maps(std::fopen("/proc/self/maps", "re"));
  if (maps == nullptr) return Failure{std::string("/proc/self/maps: ") + std::strerror(errno)};
  Mappings found;
  std::array<char, 4500> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), maps.get()) != nullptr) {
    Mapping mapping;
    int name = 0;
    if (std::sscanf(line.data(), "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %n", &mapping.begin, &mapping.end,
                    mapping.permissions.data(), &name) != 3)
      continue;
    if (RankSlots::get()->owner(mapping.begin) < 0) continue;
    mapping.file.assign(line.data() + name, std::strcspn(line.data() + name, "\n"));
    found.push_back(std::move(mapping));
  }
  return found;
}

/// The same, read once for all ranks that are saved together.
Result<std::shared_ptr<const Mappings>> mappings_at(std::uint64_t moment) {
  static std::mutex mutex;
  static std::shared_ptr<const Mappings> last;
  static std::uint64_t when = 0;
  const std::lock_guard guard(mutex);
  if (last == nullptr || when != moment) {
    Result<Mappings> now = read_mappings();
    if (!now) return now.failure();
    last = std::make_shared<const Mappings>(*std::move(now));
    when = moment;
  }
  return last;
}

// What /proc/self/pagemap says of a page.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63, kSwapped = std::uint64_t{1} << 62,
                        kOfFile = std::uint64_t{1} << 61;

class PageMap {
 public:
  PageMap() noexcept : fd_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  bool is_open() const noexcept { return bool(fd_); }

  /// Adds the pages of [begin, end) that have been written to, or all, to `runs`. False: errno says why.
  bool add(std::uintptr_t begin, std::uintptr_t end, bool all, std::vector<WrittenRun>& runs) const {
    std::array<std::uint64_t, 4096> entries;
    for (std::uintptr_t at = begin; at < end;) {
      const std::size_t pages = std::min((end - at) / kPageSize, entries.size());
      const auto bytes = static_cast<ssize_t>(pages * sizeof entries[0]);
      if (!all && pread(fd_.get(), entries.data(), static_cast<std::size_t>(bytes),
                        static_cast<off_t>(at / kPageSize * sizeof entries[0])) != bytes)
        return false;
      for (std::size_t i = 0; i < pages; ++i, at += kPageSize) {
        if (all || is_written(entries[i])) add_page(at, runs);
      }
    }
    return true;
  }

 private:
  static bool is_written(std::uint64_t entry) noexcept {
    return (entry & (kPresent | kSwapped)) != 0 && (entry & kOfFile) == 0;
  }
  static void add_page(std::uintptr_t at, std::vector<WrittenRun>& runs) {
    if (!runs.empty() && runs.back().begin + runs.back().bytes == at)
      runs.back().bytes += kPageSize;
    else
      runs.push_back({at, kPageSize});
  }

  const Fd fd_;
};

constexpr std::string_view kBuildIdName = "GNU";

std::string build_id(const dl_phdr_info& info) {
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const contents = name + ((note.n_namesz + 3) & ~3u);
      at = contents + ((note.n_descsz + 3) & ~3u);
      if (at > end) break;
      if (note.n_type != NT_GNU_BUILD_ID ||
          std::string_view(name, note.n_namesz).substr(0, 3) != kBuildIdName)
        continue;
      std::string text;
      for (std::uint32_t i = 0; i < note.n_descsz; ++i) {
        std::array<char, 3> hex{};
        std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(contents[i]));
        text += hex.data();
      }
      return text;
    }
  }
  return "no build-id";
}

/// A rank's code may be bound to it: tmpi-node itself, and what all ranks share of libc.
bool may_be_referred_to(std::string_view path) {
  if (path.empty()) return true;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  constexpr std::array<std::string_view, 10> kFamily{
      "libc.so",    "libm.so",      "libpthread.so", "libdl.so",    "librt.so",
      "libutil.so", "libresolv.so", "libmvec.so",    "libgcc_s.so", "ld-linux"};
  return std::ranges::any_of(kFamily, [&](std::string_view one) { return name.starts_with(one); });
}

void add_line(std::string& text, std::string_view what, std::uint64_t where, std::string_view which) {
  std::array<char, 32> hex{};
  std::snprintf(hex.data(), hex.size(), " %" PRIx64 " ", where);
  text.append(what).append(hex.data()).append(which) += '\n';
}

/// Whether two files are the same, not who has written them: FNV-1a over words.
Result<std::string> digest_of(const ElfFile& file) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t digest = 0xcbf29ce484222325;
  std::vector<std::uint64_t> words(std::size_t{1} << 15);
  off_t at = 0;
  for (;;) {
    const ssize_t got = pread(file.fd(), words.data(), words.size() * sizeof words[0], at);
    if (got < 0) return Failure{file.path() + ": " + std::strerror(errno)};
    if (got == 0) break;
    std::memset(reinterpret_cast<char*>(words.data()) + got, 0,
                -static_cast<std::size_t>(got) % sizeof words[0]);
    for (std::size_t i = 0; i * sizeof words[0] < static_cast<std::size_t>(got); ++i)
      digest = (digest ^ words[i]) * kPrime;
    at += got;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64 " (%jd bytes)", digest,
                static_cast<std::intmax_t>(at));
  return std::string(text.data());
}

/// The same, read once per file of the process.
Result<std::string> known_digest_of(const ElfFile& file) {
  static std::mutex mutex;
  static std::map<const ElfFile*, std::string> known;
  const std::lock_guard guard(mutex);
  if (const auto it = known.find(&file); it != known.end()) return it->second;
  auto digest = digest_of(file);
  if (digest) known.emplace(&file, *digest);
  return digest;
}

}  // namespace

Result<RankMemory> memory_of(int rank, std::uintptr_t stack_pointer, std::uint64_t moment) {
  const RankSlots& slots = *RankSlots::get();
  const std::uintptr_t begin = slots.begin(rank), stack = slots.stack(rank), end = begin + slots.bytes();
  // What lies below the stack pointer changes while this runs.
  const std::uintptr_t whole_stack = (stack_pointer + kPageSize - 1) & ~std::uintptr_t{kPageSize - 1};
  const auto mappings = mappings_at(moment);
  if (!mappings) return mappings.failure();
  const PageMap pages;
  if (!pages.is_open()) return Failure{std::string("/proc/self/pagemap: ") + std::strerror(errno)};
  RankMemory memory;
  for (auto each = std::ranges::upper_bound(**mappings, begin, {}, &Mapping::end);
       each != (*mappings)->end() && each->begin < end; ++each) {
    Mapping mapping = *each;  // which neighbouring slots may have a part of
    mapping.begin = std::max(mapping.begin, begin);
    mapping.end = std::min(mapping.end, end);
    if (mapping.shared())
      return Failure{"it has mapped memory that it shares with others (" +
                     (mapping.file.empty() ? "anonymous" : mapping.file) + ")"};
    // Neighbours that are alike are one mapping to the system.
    const auto add = [&](std::uintptr_t from, std::uintptr_t to, bool all) {
      from = std::max(from, mapping.begin);
      to = std::min(to, mapping.end);
      return from >= to || pages.add(from, to, all, memory.runs);
    };
    const std::uintptr_t heap = slots.heap_begin(rank);
    if (!mapping.readable() && !mapping.writable()) {
      std::vector<WrittenRun> hidden;
      if (!pages.add(mapping.begin, mapping.end, false, hidden))
        return Failure{std::string("/proc/self/pagemap: ") + std::strerror(errno)};
      const bool guard = mapping.begin >= stack || slots.is_handle(mapping.begin);
      if (!hidden.empty() && !guard)
        return Failure{"it has written to memory that it has made unreadable (mprotect)"};
      continue;
    }
    bool known = add(begin, slots.handles(rank), false) && add(whole_stack, end, false);
    const std::uintptr_t from = std::max(heap, mapping.begin), to = std::min(stack, mapping.end);
    if (from < to) {
      memory.pieces.push_back({from, to - from, mapping.protection()});
      known = known && add(from, to, !mapping.file.empty());
    }
    if (!known) return Failure{std::string("/proc/self/pagemap: ") + std::strerror(errno)};
  }
  if (whole_stack != stack_pointer) memory.runs.push_back({stack_pointer, whole_stack - stack_pointer});
  return memory;
}

Result<void> map_piece(const MappedPiece& piece) {
  void* const at = reinterpret_cast<void*>(piece.begin);
  if (mmap(at, piece.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
           -1, 0) != MAP_FAILED)
    return {};
  return Failure{std::string("cannot map memory: ") + std::strerror(errno)};
}

Result<std::string> surroundings_of(int rank) {
  std::string lines;
  struct Visit {
    std::string& lines;
    static int see(dl_phdr_info* info, std::size_t, void* visit) {
      const std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
      if (may_be_referred_to(path))
        add_line(static_cast<Visit*>(visit)->lines, path.empty() ? "tmpi-node" : path, info->dlpi_addr,
                 build_id(*info));
      return 0;
    }
  } visit{lines};
  // Which of its own functions libc has chosen goes with a rank, in its tables of addresses.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0)
    add_line(lines, "processor", std::uint64_t{ebx} << 32 | ecx, std::to_string(edx));
  // libc's own: of the node process's objects, not of the rank's.
  using Iterate = int (*)(int (*)(dl_phdr_info*, std::size_t, void*), void*);
  static const auto iterate = reinterpret_cast<Iterate>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  iterate(&Visit::see, &visit);
  const RankState& state = *rank_state(rank);
  const std::uint64_t images = state.set->base(state.index) - RankSlots::get()->begin(rank);
  for (const auto& object : state.set->objects()) {
    const auto digest = known_digest_of(*object->file);
    if (!digest) return digest.failure();
    const std::string_view path = object->file->path();
    add_line(lines, path.substr(path.rfind('/') + 1), images + object->offset, *digest);
  }
  return lines;
}

}  // namespace tmpi::privatize
