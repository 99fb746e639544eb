#include "privatize/preload.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "privatize/elf_bytes.hpp"
#include "privatize/elf_file.hpp"
#include "privatize/library_search.hpp"
#include "privatize/ownership.hpp"

namespace tmpi::privatize {
namespace {

bool is_mpi_name(std::string_view name) {
  return name.starts_with("MPI_") || name.starts_with("mpi_");
}
bool is_profiling_name(std::string_view name) {
  return name.starts_with("PMPI_") || name.starts_with("pmpi_");
}

// By its sections, since whether the loader could use the file is another question: what only calls MPI, or
// speaks of it, must not be refused for it.
bool defines_mpi(ElfBytes file) {
  const auto* const header = record_at<Elf64_Ehdr>(file, 0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  const auto sections = records_in<Elf64_Shdr>(from(file, header->e_shoff), header->e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& text = sections[section.sh_link];
    const ElfStrings names(part_of(file, text.sh_offset, text.sh_size));
    for (const Elf64_Sym& symbol : records_in<Elf64_Sym>(part_of(file, section.sh_offset, section.sh_size))) {
      if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
          is_mpi_name(names.at(symbol.st_name)))
        return true;
    }
  }
  return false;
}

bool defines_mpi(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat status {};
  const std::size_t size =
      fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
  void* const memory = size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return false;
  const bool found = defines_mpi(ElfBytes{static_cast<const std::byte*>(memory), size});
  munmap(memory, size);
  return found;
}

struct Names {
  bool wraps = false;     // defines MPI functions
  bool profiled = false;  // ... and their PMPI names, as tools do that want both
  bool calls = false;     // ... and needs others from elsewhere

  bool provides() const { return profiled && !calls; }  // an MPI library itself
};

Names names_of(const ElfFile& file) {
  Names names;
  const SymbolTable& symbols = file.symbols();
  for (std::uint32_t i = 1; i < symbols.count(); ++i) {
    const Elf64_Sym& symbol = symbols.symbol(i);
    const std::string_view name = symbols.name(symbol);
    if (symbol.st_shndx == SHN_UNDEF) {
      names.calls = names.calls || is_mpi_name(name) || is_profiling_name(name);
    } else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
      names.wraps = names.wraps || is_mpi_name(name);
      names.profiled = names.profiled || is_profiling_name(name);
    }
  }
  return names;
}

}  // namespace

Result<Preload> read_preload(const std::string& value, const std::string& search_path, bool in_process) {
  Preload preload;
  SearchContext context;
  context.library_path = search_path;
  constexpr const char* kSeparators = " :";
  for (std::size_t begin = value.find_first_not_of(kSeparators); begin != std::string::npos;) {
    const std::size_t end = std::min(value.find_first_of(kSeparators, begin), value.size());
    const std::string name = value.substr(begin, end - begin);
    begin = value.find_first_not_of(kSeparators, end);
    const std::string path = find_library(name, context);
    const bool own = !path.empty() && library_owner(path, {}).ownership == Ownership::kPrivate;
    if (path.empty() || !defines_mpi(path)) {
      (own && !in_process ? preload.libraries : preload.others).push_back(own ? path : name);
      continue;
    }
    auto file = ElfFile::open(path, ElfFile::Role::kLibrary);
    if (!file) return Failure{"LD_PRELOAD: " + file.message()};
    const Names names = names_of(**file);
    if (names.provides()) {
      if (library_owner(name, {}).ownership == Ownership::kRuntime) continue;
      return Failure{"LD_PRELOAD: " + path + ": is an MPI library itself; leave it out, tmpi brings its own"};
    }
    if (!names.wraps) {
      (in_process ? preload.others : preload.libraries).push_back(in_process ? name : path);
      continue;
    }
    if (const std::string* other = foreign_mpi((*file)->dynamic().needed)) {
      return Failure{"LD_PRELOAD: " + path + ": was built for another MPI (it needs " + *other +
                     "), whose handles and constants differ; rebuild it with tmpicc -shared -fPIC"};
    }
    preload.libraries.push_back(path);
  }
  return preload;
}

}  // namespace tmpi::privatize
