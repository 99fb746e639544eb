// The loader on files that are damaged in any way: what ElfFile::open() accepts is looked up in, laid out,
// relocated and mapped like a program. Nothing of the file is run. The corpus are small objects that a
// compiler has made (elf_seeds.sh).
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string>

#include "privatize/debugger.hpp"
#include "privatize/relocation.hpp"
#include "privatize/runtime_table.hpp"
#include "privatize/static_tls_pool.hpp"
#include "privatize/tls.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// What the rest of the loader would say.
namespace tmpi::privatize {
const void* runtime_function(const char* name) noexcept {
  static const char any[64] = {};
  return std::strcmp(name, "dlopen") == 0 ? any : nullptr;
}
const void* substituted_function(const char*) noexcept {
  return nullptr;
}
void forget_images(std::uint64_t, std::uint64_t) noexcept {}
int running_rank() noexcept {
  return -1;
}
TlsDescriptorFunctions tls_descriptor_functions() noexcept {
  return {1, 2, 3};
}
Result<std::int64_t> system_thread_pointer_offset(link_map*) {
  return Failure{"none"};
}
}  // namespace tmpi::privatize

namespace {

using namespace tmpi::privatize;
using tmpi::fuzz::require;

volatile std::size_t g_sink;

void read(const char* text) {
  if (text != nullptr) g_sink = g_sink + std::strlen(text);
}

void look_up(const ElfFile& file) {
  const SymbolTable& symbols = file.symbols();
  for (std::uint32_t i = 0; i < symbols.count(); ++i) {
    require(symbols.has(i));
    const SymbolName name = symbols.reference(i);
    read(name.name);
    read(name.version);
    const Elf64_Sym* found = symbols.find(name, (i & 1) != 0);
    if (found != nullptr) read(symbols.name(*found));
  }
  const SymbolSpan debug = file.debug_symbols();
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x1000}, ~std::uint64_t{0}}) {
    if (const Elf64_Sym* below = debug.function_below(address)) read(debug.strings.at(below->st_name));
  }
  for (const std::string& needed : file.dynamic().needed) read(needed.c_str());
}

void load(std::unique_ptr<ElfFile> file) {
  new (&static_tls_pool()) StaticTlsPool;  // what it has handed out is never given back
  ImageSet set(2, 2);
  const Object& object = set.add(std::move(file));
  Scope scope(std::make_shared<const SystemScope>());
  scope.add(object);
  scope.add_libc(nullptr);
  Resolver resolver(scope);
  Relocator relocator(set, resolver);
  relocator.find_static_tls();
  if (!set.lay_out() || !relocator.relocate() || !set.reserve()) return;
  g_sink = g_sink + set.initialisation_order().size() + (set.needs_exec_stack() ? 1 : 0);
  for (int i = 0; i < set.images(); ++i) {
    if (!set.map(i, i)) return;
    const std::uint64_t inside = object.text_begin;
    require(set.object_at(inside) == &object || object.text_begin == object.text_end);
  }
  set.unmap(0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = memfd_create("elf", MFD_CLOEXEC);
  require(fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size) && fchmod(fd, 0700) == 0);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  for (const auto role : {ElfFile::Role::kProgram, ElfFile::Role::kLibrary}) {
    auto file = ElfFile::open(path, role);
    if (!file) {
      require(!file.message().empty());
      continue;
    }
    look_up(**file);
    load(std::move(*file));
  }
  close(fd);
  return 0;
}

// Most bytes of a file are no structure. Half of the changes put a number that is just wrong into a word at a
// place where words lie.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  const auto random = [&state](std::uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
  };
  if (size < 64 || random(2) == 0) return LLVMFuzzerMutate(data, size, most);
  const std::size_t width = std::size_t{1} << random(4);
  // The headers, or anywhere.
  const std::size_t room = random(3) == 0 ? std::min<std::size_t>(size, 1024) : size;
  const std::size_t place = random(room / width) * width;
  std::uint64_t old = 0;
  std::memcpy(&old, data + place, width);
  const std::uint64_t values[] = {
      0,          1,        ~std::uint64_t{0}, std::uint64_t{1} << (8 * width - 1),
      size,       size - 1, size + 1,          old + 1,
      old - 1,    old * 2,  old ^ 0x8000,      std::uint64_t{1} << random(48),
      old + 4096, old + 8,  random(size),      random(32)};
  const std::uint64_t value = values[random(std::size(values))];
  std::memcpy(data + place, &value, width);
  return size;
}
