#include "privatize/library_search.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "privatize/elf_bytes.hpp"
#include "privatize/machine.hpp"

namespace tmpi::privatize {
namespace {

constexpr char kDefaultDirectories[] =
    "/lib/" TMPI_MULTIARCH ":/usr/lib/" TMPI_MULTIARCH ":/lib64:/usr/lib64:/lib:/usr/lib";

std::string expand(std::string text, const std::string& origin) {
  for (const char* token : {"$ORIGIN", "${ORIGIN}"}) {
    for (std::size_t at; (at = text.find(token)) != std::string::npos;)
      text.replace(at, std::strlen(token), origin);
  }
  for (const char* token : {"$LIB", "${LIB}"}) {
    for (std::size_t at; (at = text.find(token)) != std::string::npos;) {
      text.replace(at, std::strlen(token), "lib/" TMPI_MULTIARCH);
    }
  }
  return text;
}

/// True for a file that is an ELF object of this machine (a 32-bit library of the same name is passed over,
/// as ld.so does).
bool usable(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // it may be a FIFO
  if (fd < 0) return false;
  Elf64_Ehdr header{};
  const bool read_all = read(fd, &header, sizeof header) == static_cast<ssize_t>(sizeof header);
  close(fd);
  return read_all && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == kElfMachine;
}

std::string search_list(const std::string& list, const char* separators, const std::string& name,
                        const std::string& origin) {
  for (std::size_t begin = 0; begin <= list.size() && !list.empty();) {
    std::size_t end = list.find_first_of(separators, begin);
    if (end == std::string::npos) end = list.size();
    std::string directory = expand(list.substr(begin, end - begin), origin);
    if (directory.empty()) directory = ".";
    std::string path = std::move(directory);
    path.append("/").append(name);
    if (usable(path)) return path;
    begin = end + 1;
  }
  return {};
}

/// /etc/ld.so.cache, the format "glibc-ld.so.cache1.1".
std::string search_cache(const std::string& name) {
  struct Header {
    char magic[20];
    std::uint32_t entries, strings_size;
    std::uint32_t unused[5];
  };
  struct Entry {
    std::int32_t flags;
    std::uint32_t key, value, os_version;
    std::uint64_t hwcap;
  };
  static_assert(sizeof(Header) == 48 && sizeof(Entry) == 24);
  constexpr std::int32_t kX86_64 = 0x0303;  // FLAG_X8664_LIB64 | FLAG_ELF_LIBC6
  const int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat status {};
  fstat(fd, &status);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = size > sizeof(Header) ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (memory == MAP_FAILED) return {};
  const ElfBytes cache(static_cast<const std::byte*>(memory), size);
  const ElfStrings strings(cache);
  const auto* header = record_at<Header>(cache, 0);
  std::string found;
  if (std::memcmp(header->magic, "glibc-ld.so.cache1.1", 20) == 0) {
    for (const Entry& entry : records_in<Entry>(from(cache, sizeof(Header)), header->entries)) {
      // Entries with hwcap bits are variants for newer processors; the plain one always exists beside them.
      if (entry.flags != kX86_64 || entry.hwcap != 0) continue;
      if (name == strings.at(entry.key)) found = strings.at(entry.value);
      if (!found.empty()) break;
    }
  }
  munmap(memory, size);
  return found;
}

bool loaded_already(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

bool starts_with(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

}  // namespace

std::string find_library(const std::string& name, const SearchContext& context) {
  if (name.find('/') != std::string::npos) {
    std::string path = expand(name, context.origin);
    return usable(path) ? path : std::string();
  }
  std::string path;
  if (context.runpath.empty()) {
    for (const auto& [list, origin] : context.rpaths) {
      if (path.empty()) path = search_list(list, ":", name, origin);
    }
  }
  const char* environment = std::getenv("LD_LIBRARY_PATH");
  if (path.empty() && environment != nullptr) path = search_list(environment, ":;", name, context.origin);
  if (path.empty()) path = search_list(context.runpath, ":", name, context.origin);
  if (path.empty()) path = search_cache(name);
  if (path.empty()) path = search_list(kDefaultDirectories, ":", name, context.origin);
  return path;
}

Ownership ownership(const std::string& name, const std::string& path, bool private_libstdcxx) {
  const std::string file = name.substr(name.rfind('/') + 1);
  if (starts_with(file, "libtmpi.so") || starts_with(file, "libmpi_abi.so")) return Ownership::kRuntime;
  // Their state is a rank's: two ranks opening unit 10 collide; a thread team belongs to one rank; MPI_IN_PLACE of a
  // Fortran program is an address in its image.
  for (const char* own : {"libgfortran.so.", "libgomp.so.", "libtmpifort.so", "libmpifort_abi.so."}) {
    if (starts_with(file, own)) return Ownership::kPrivate;
  }
  if (starts_with(file, "libstdc++.so")) return private_libstdcxx ? Ownership::kPrivate : Ownership::kShared;
  for (const char* system :
       {"libc.so.", "libm.so.", "libgcc_s.so.", "libquadmath.so.", "libpthread.so.", "libdl.so.", "librt.so.",
        "ld-linux", "libasan.so", "libtsan.so", "libubsan.so", "liblsan.so"}) {
    if (starts_with(file, system)) return Ownership::kShared;
  }
  if (path.empty()) return Ownership::kShared;
  if (loaded_already(name)) return Ownership::kShared;
  char real[PATH_MAX];
  const std::string resolved = realpath(path.c_str(), real) != nullptr ? real : path;
  for (const char* directory : {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/libexec/"}) {
    if (starts_with(resolved, directory)) return Ownership::kShared;
  }
  return Ownership::kPrivate;
}

}  // namespace tmpi::privatize
