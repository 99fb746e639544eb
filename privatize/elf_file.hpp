// ElfFile: one ELF shared object on disk, mapped read-only, checked for everything that would keep the loader
// from giving each rank its own copy. Nothing in the file is believed: what open() accepts can be laid out
// and relocated whatever its bytes are, and every look at them goes through bytes_at() or the views of
// elf_bytes.hpp. Immutable after open(); any thread may read. Addresses below are the file's own (unbased)
// virtual addresses.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "privatize/symbol_table.hpp"

namespace tmpi::privatize {

/// The dynamic section, as numbers of the file.
struct DynamicInfo {
  std::uint64_t init = 0, fini = 0;
  std::uint64_t init_array = 0, init_array_size = 0;
  std::uint64_t fini_array = 0, fini_array_size = 0;
  std::uint64_t preinit_array = 0, preinit_array_size = 0;
  std::uint64_t rela = 0, rela_size = 0;
  std::uint64_t plt_rela = 0, plt_rela_size = 0;
  std::uint64_t relr = 0, relr_size = 0;
  std::uint64_t flags = 0, flags_1 = 0;
  bool symbolic = false, textrel = false, present = false;
  bool debug = false;  ///< DT_DEBUG: has a place for the address of _r_debug
  std::string soname, rpath, runpath;
  std::vector<std::string> needed;
};

/// The note by which start.o marks a program that was linked by tmpicc (name "tmpi", type 1).
struct ProgramNote {
  bool present = false;
  std::uint32_t version = 0;
  std::uint64_t main = 0;  ///< address of main, 0: not recorded
};

/// The library of another MPI among those that a file needs; null: none.
const std::string* foreign_mpi(const std::vector<std::string>& needed);

class ElfFile {
 public:
  enum class Role { kProgram, kLibrary };

  /// Opens and checks `path`. The failure names the file, what is wrong with it and what to do.
  static Result<std::unique_ptr<ElfFile>> open(const std::string& path, Role role);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& path() const { return path_; }
  int fd() const { return fd_; }
  const Elf64_Ehdr& header() const { return *reinterpret_cast<const Elf64_Ehdr*>(bytes_.data()); }
  /// As they lie in the file.
  std::span<const Elf64_Phdr> program_headers() const { return headers_; }
  const std::vector<Elf64_Phdr>& loads() const { return loads_; }  ///< PT_LOAD, by address
  const Elf64_Phdr* segment(std::uint32_t type) const;  ///< first program header of that type, or null
  const DynamicInfo& dynamic() const { return dynamic_; }
  const ProgramNote& note() const { return note_; }
  /// A program that a plain compiler has linked, whose linker has chosen where its thread-local variables lie, seen from
  /// the thread pointer.
  bool has_placed_tls() const { return placed_tls_; }
  const SymbolTable& symbols() const { return symbols_; }      ///< .dynsym
  SymbolSpan debug_symbols() const { return debug_symbols_; }  ///< .symtab if not stripped, else .dynsym

  /// The file's bytes from an address on, to the end of their segment; empty if none lie there.
  ElfBytes bytes_at(std::uint64_t vaddr) const;
  /// True if [vaddr, vaddr + size) is memory of one loaded segment that has all of `flags` (PF_*).
  bool in_memory(std::uint64_t vaddr, std::uint64_t size, std::uint32_t flags = 0) const;

 private:
  ElfFile() = default;
  Result<void> map(const std::string& path);
  Result<void> check_header(Role role) const;
  Result<void> read_program_headers();
  Result<void> check_segment(const Elf64_Phdr& segment) const;
  Result<void> read_dynamic();
  void read_dynamic_entry(const Elf64_Dyn& entry);
  void read_notes();
  void read_section_symbols();
  Result<void> check_loadable(Role role);
  Result<void> check_places(Role role) const;
  Failure fail(const std::string& what) const { return Failure{path_ + ": " + what}; }

  std::string path_;
  int fd_ = -1;
  ElfBytes bytes_;  // the whole file
  std::span<const Elf64_Phdr> headers_;
  std::vector<Elf64_Phdr> loads_;
  DynamicInfo dynamic_;
  ProgramNote note_;
  bool placed_tls_ = false;
  SymbolTable symbols_;
  SymbolSpan debug_symbols_;
};

}  // namespace tmpi::privatize
