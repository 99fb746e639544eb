#include "privatize/library_search.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/path.hpp"
#include "privatize/elf_bytes.hpp"
#include "privatize/elf_file.hpp"
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

/// Subdirectories for what this processor can do, the best first, as the dynamic linker has them; last, the directory.
const std::vector<std::string>& hardware_directories() {
  static const std::vector<std::string> directories = [] {
    std::vector<std::string> found;
    for (int level = machine_level(); level > 1; --level)
      found.push_back("glibc-hwcaps/" TMPI_MACHINE_LEVEL + std::to_string(level) + "/");
    found.emplace_back();
    return found;
  }();
  return directories;
}

std::string search_directory(const std::string& directory, const std::string& name) {
  for (const std::string& variant : hardware_directories()) {
    std::string path = directory;
    path.append("/").append(variant).append(name);
    if (usable(path)) return path;
  }
  return {};
}

/// Which of hardware_directories() a path of the cache lies in; behind all: in one that this processor cannot use.
std::size_t preference(std::string_view path) {
  const auto& directories = hardware_directories();
  if (path.find("/glibc-hwcaps/") == std::string_view::npos) return directories.size() - 1;
  std::size_t i = 0;
  while (i + 1 < directories.size() && path.find(directories[i]) == std::string_view::npos) ++i;
  return i + 1 < directories.size() ? i : directories.size();
}

std::string search_list(const std::string& list, const char* separators, const std::string& name,
                        const std::string& origin) {
  for (std::size_t begin = 0; begin <= list.size() && !list.empty();) {
    std::size_t end = list.find_first_of(separators, begin);
    if (end == std::string::npos) end = list.size();
    std::string directory = expand(list.substr(begin, end - begin), origin);
    if (directory.empty()) directory = ".";
    if (std::string path = search_directory(directory, name); !path.empty()) return path;
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
  std::size_t best = hardware_directories().size();
  if (std::memcmp(header->magic, "glibc-ld.so.cache1.1", 20) == 0) {
    for (const Entry& entry : records_in<Entry>(from(cache, sizeof(Header)), header->entries)) {
      if (entry.flags != kX86_64 || name != strings.at(entry.key)) continue;
      const char* const path = strings.at(entry.value);
      if (preference(path) >= best) continue;
      best = preference(path);
      found = path;
    }
  }
  munmap(memory, size);
  return found;
}

}  // namespace

SearchContext search_context(const ElfFile& file, const std::string& library_path) {
  SearchContext context;
  context.library_path = library_path;
  context.origin = directory_of(file.path());
  context.runpath = file.dynamic().runpath;
  if (!file.dynamic().rpath.empty()) context.rpaths.emplace_back(file.dynamic().rpath, context.origin);
  return context;
}

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
  if (path.empty()) path = search_list(context.library_path, ":;", name, context.origin);
  if (path.empty()) path = search_list(context.runpath, ":", name, context.origin);
  if (path.empty()) path = search_cache(name);
  if (path.empty()) path = search_list(kDefaultDirectories, ":", name, context.origin);
  return path;
}

}  // namespace tmpi::privatize
