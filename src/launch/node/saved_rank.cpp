#include "launch/node/saved_rank.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/platform.hpp"
#include "base/whole_file.hpp"
#include "launch/spec/saved_job.hpp"
#include "privatize/rank_slots.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kDigest = 32;
constexpr std::size_t kPart = std::size_t{8} << 20;  // bytes of one system call

struct Header {
  std::array<char, 8> magic{'t', 'm', 'p', 'i', 'r', 'a', 'n', 'k'};
  std::int32_t rank = 0;
  std::uint32_t format = 1;
  std::uint64_t stack = 0, slot_begin = 0, slot_bytes = 0;
  std::uint64_t checkpoint = 0;
  std::uint64_t surroundings = 0, mpi_state = 0, process_state = 0, pieces = 0,
                runs = 0;                  // bytes of each, in this order
  std::array<std::byte, kDigest> pages{};  // digest of the pages
  std::array<std::byte, kDigest>
      tables{};  // of this header, with zeros here, and of what lies between it and the pages
};

using privatize::MappedPiece;
using privatize::RankSlots;
using privatize::WrittenRun;

class Digest {
 public:
  Digest() { crypto_generichash_init(&state_, nullptr, 0, kDigest); }
  void add(const void* data, std::size_t bytes) {
    crypto_generichash_update(&state_, static_cast<const unsigned char*>(data), bytes);
  }
  std::array<std::byte, kDigest> finish() {
    std::array<std::byte, kDigest> digest{};
    crypto_generichash_final(&state_, reinterpret_cast<unsigned char*>(digest.data()), kDigest);
    return digest;
  }

 private:
  crypto_generichash_state state_;
};

/// What lies between header and pages, in its order; `saved` may be constant.
template <class Saved, class Use>
bool for_each_table(Saved& saved, Use use) {
  return use(saved.surroundings) && use(saved.mpi_state) && use(saved.process_state) &&
         use(saved.memory.pieces) && use(saved.memory.runs);
}

template <class Table>
std::uint64_t size_of(const Table& table) {
  return std::span(table).size_bytes();
}

std::array<std::byte, kDigest> digest_of_tables(Header header, const SavedRank& saved) {
  header.tables = {};
  Digest digest;
  digest.add(&header, sizeof header);
  for_each_table(saved, [&](const auto& table) { return digest.add(table.data(), size_of(table)), true; });
  return digest.finish();
}

bool write_all(int fd, Header& header, const SavedRank& saved) {
  if (lseek(fd, sizeof header, SEEK_SET) < 0) return false;
  if (!for_each_table(saved,
                      [&](const auto& table) { return write_whole(fd, table.data(), size_of(table)); }))
    return false;
  Digest pages;
  for (const WrittenRun& run : saved.memory.runs) {
    const auto* const begin = reinterpret_cast<const std::byte*>(run.begin);
    for (std::uint64_t done = 0; done < run.bytes; done += kPart) {
      const std::size_t bytes = std::min<std::uint64_t>(run.bytes - done, kPart);
      if (!write_whole(fd, begin + done, bytes)) return false;
      pages.add(begin + done, bytes);  // while the processor still has it
    }
  }
  header.pages = pages.finish();
  header.tables = digest_of_tables(header, saved);
  return pwrite(fd, &header, sizeof header, 0) == sizeof header && fsync(fd) == 0;
}

bool in_slot(std::uint64_t begin, std::uint64_t bytes, int rank) {
  const RankSlots& slots = *RankSlots::get();
  const std::uint64_t first = slots.begin(rank);
  return begin >= first && bytes <= slots.bytes() && begin - first <= slots.bytes() - bytes;
}

}  // namespace

std::string rank_file(const std::string& folder, int rank) {
  return fmt::format("{}/rank-{}", folder, rank);
}

Result<void> write_saved_rank(const std::string& folder, const SavedRank& saved) {
  // It has its name when it is whole: a checkpoint in memory is complete when there are all files.
  const std::string whole = rank_file(folder, saved.rank), path = whole + ".part";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return Failure{with_reason(path)};
  const RankSlots& slots = *RankSlots::get();
  Header header;
  header.rank = saved.rank;
  header.checkpoint = saved.checkpoint;
  header.stack = saved.stack;
  header.slot_begin = slots.begin(saved.rank);
  header.slot_bytes = slots.bytes();
  header.surroundings = size_of(saved.surroundings);
  header.mpi_state = size_of(saved.mpi_state);
  header.process_state = size_of(saved.process_state);
  header.pieces = size_of(saved.memory.pieces);
  header.runs = size_of(saved.memory.runs);
  std::string problem;
  if (!write_all(fd, header, saved)) problem = with_reason(path);
  if (close(fd) != 0 && problem.empty()) problem = with_reason(path);
  if (problem.empty() && rename(path.c_str(), whole.c_str()) != 0) problem = with_reason(whole);
  if (problem.empty()) return {};
  unlink(path.c_str());
  return Failure{problem};
}

Result<SavedRankFile*> SavedRankFile::open(const std::string& folder, std::uint64_t checkpoint, int rank) {
  std::unique_ptr<SavedRankFile> file(new SavedRankFile);
  file->path_ = rank_file(folder, rank);
  Result<Fd> fd = open_own_file(file->path_);
  if (!fd) return fd.failure();
  file->fd_ = *std::move(fd);
  file->saved_.rank = rank;
  if (const Result<void> read = file->read_head(checkpoint); !read)
    return Failure{fmt::format("{}: {}", file->path_, read.message())};
  return file.release();
}

Result<void> SavedRankFile::read_head(std::uint64_t checkpoint) {
  const Failure damaged{"is damaged, or was not written to its end"};
  Header header;
  const Header expected;
  if (!read_whole(fd_.get(), &header, sizeof header, 0) || header.magic != expected.magic ||
      header.format != expected.format || header.rank != saved_.rank)
    return damaged;
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0) return damaged;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  for (const std::uint64_t part :
       {header.surroundings, header.mpi_state, header.process_state, header.pieces, header.runs}) {
    if (part > size) return damaged;
  }
  off_t at = sizeof header;
  const std::uint64_t sizes[] = {header.surroundings, header.mpi_state, header.process_state, header.pieces,
                                 header.runs};
  const std::uint64_t* next = sizes;
  const bool read = for_each_table(saved_, [&](auto& table) {
    using Item = std::remove_cvref_t<decltype(table[0])>;
    const std::uint64_t bytes = *next++;
    if (bytes % sizeof(Item) != 0) return false;
    table.resize(bytes / sizeof(Item));
    const bool ok = read_whole(fd_.get(), table.data(), bytes, at);
    at += static_cast<off_t>(bytes);
    return ok;
  });
  if (!read || digest_of_tables(header, saved_) != header.tables) return damaged;
  pages_ = at;
  saved_.stack = header.stack;
  digest_ = {header.pages.begin(), header.pages.end()};
  if (header.checkpoint != checkpoint)
    return Failure{"belongs to another checkpoint than the file `job` beside it"};
  const RankSlots& slots = *RankSlots::get();
  if (header.slot_begin != slots.begin(saved_.rank) || header.slot_bytes != slots.bytes())
    return Failure{"was written with other addresses than ranks have here"};
  return check_places(size) ? Result<void>{} : damaged;
}

/// Whoever can write such a file can write a right digest, too.
bool SavedRankFile::check_places(std::uint64_t size) const {
  const RankSlots& slots = *RankSlots::get();
  const auto inside = [&](const auto& one) { return in_slot(one.begin, one.bytes, saved_.rank); };
  const auto pages = [](const auto& one) { return one.begin % kPageSize == 0 && one.bytes % kPageSize == 0; };
  std::uint64_t bytes = 0;
  for (const WrittenRun& run : saved_.memory.runs) bytes += run.bytes;
  const std::uint64_t stack = slots.stack(saved_.rank);
  return std::ranges::all_of(saved_.memory.pieces, inside) &&
         std::ranges::all_of(saved_.memory.pieces, pages) &&
         std::ranges::all_of(saved_.memory.runs, inside) && saved_.stack >= stack &&
         saved_.stack < stack + slots.stack_bytes() && size == static_cast<std::uint64_t>(pages_) + bytes;
}

Result<void> SavedRankFile::fill() const {
  for (const MappedPiece& piece : saved_.memory.pieces) {
    if (const Result<void> mapped = privatize::map_piece(piece); !mapped) return mapped;
  }
  Digest digest;
  off_t at = pages_;
  for (const WrittenRun& run : saved_.memory.runs) {
    auto* const to = reinterpret_cast<std::byte*>(run.begin);
    for (std::uint64_t done = 0; done < run.bytes; done += kPart) {
      const std::size_t bytes = std::min<std::uint64_t>(run.bytes - done, kPart);
      if (!read_whole(fd_.get(), to + done, bytes, at)) return Failure{with_reason(path_)};
      digest.add(to + done, bytes);
      at += static_cast<off_t>(bytes);
    }
  }
  for (const MappedPiece& piece : saved_.memory.pieces)
    (void)mprotect(reinterpret_cast<void*>(piece.begin), piece.bytes, piece.protection);
  if (std::ranges::equal(digest.finish(), digest_)) return {};
  return Failure{path_ + ": is damaged: its contents are not what was written"};
}

}  // namespace tmpi::launch
