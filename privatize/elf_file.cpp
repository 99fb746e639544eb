#include "privatize/elf_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tmpi::privatize {
namespace {

constexpr char kRebuild[] = "rebuild it with tmpicc or tmpicxx";

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_386:
      return "32-bit x86";
    case EM_AARCH64:
      return "64-bit ARM";
    case EM_ARM:
      return "32-bit ARM";
    case EM_PPC64:
      return "64-bit POWER";
    case EM_RISCV:
      return "RISC-V";
    default:
      return "machine number " + std::to_string(machine);
  }
}

/// An MPI library of another make among the needed libraries, or null.
const std::string* foreign_mpi(const std::vector<std::string>& needed) {
  auto foreign = [](const std::string& name) {
    for (const char* prefix :
         {"libmpi.so.", "libmpich", "libmpi_cxx.so", "libmpicxx.so", "libmpi_usempi", "libmpi_mpifh"}) {
      if (name.rfind(prefix, 0) == 0) return true;
    }
    return false;
  };
  const auto it = std::find_if(needed.begin(), needed.end(), foreign);
  return it == needed.end() ? nullptr : &*it;
}

}  // namespace

Result<std::unique_ptr<ElfFile>> ElfFile::open(const std::string& path, Role role) {
  std::unique_ptr<ElfFile> file(new ElfFile);
  if (auto r = file->map(path); !r) return r.failure();
  if (auto r = file->check_header(role); !r) return r.failure();
  if (auto r = file->read_program_headers(); !r) return r.failure();
  if (auto r = file->read_dynamic(); !r) return r.failure();
  file->read_notes();
  file->read_section_symbols();
  if (auto r = file->check_loadable(role); !r) return r.failure();
  // From here on the name is for debuggers and $ORIGIN: absolute, and a program's without symbolic links.
  std::error_code error;
  const auto absolute = role == Role::kProgram ? std::filesystem::canonical(path, error)
                                               : std::filesystem::absolute(path, error);
  if (!error) file->path_ = absolute.lexically_normal();
  return file;
}

ElfFile::~ElfFile() {
  if (bytes_ != nullptr) munmap(const_cast<std::byte*>(bytes_), size_);
  if (fd_ >= 0) close(fd_);
}

Result<void> ElfFile::map(const std::string& path) {
  path_ = path;
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) {
    if (errno == ENOENT) return fail("no such file; check the name and the working directory");
    if (errno == EACCES)
      return fail("not readable (the loader maps the program, so it needs read permission): chmod +r");
    return fail(std::string("cannot be opened: ") + std::strerror(errno));
  }
  struct stat status {};
  if (fstat(fd_, &status) != 0) return fail(std::string("cannot be examined: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail("is a directory, not a program");
  if (!S_ISREG(status.st_mode)) return fail("is not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return fail("is empty; was it linked completely?");
  void* memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (memory == MAP_FAILED) return fail(std::string("cannot be mapped: ") + std::strerror(errno));
  bytes_ = static_cast<const std::byte*>(memory);
  return {};
}

Result<void> ElfFile::check_header(Role role) const {
  if (size_ >= 2 && std::memcmp(bytes_, "#!", 2) == 0) {
    return fail(
        "is a script; ranks are mapped from a compiled program, so give tmpirun the program that the script "
        "starts");
  }
  if (size_ < sizeof(Elf64_Ehdr) || std::memcmp(bytes_, ELFMAG, SELFMAG) != 0) {
    return fail(std::string("is not an ELF program; ") + kRebuild);
  }
  const Elf64_Ehdr& h = header();
  if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != EM_X86_64) {
    return fail("is built for " + machine_name(h.e_machine) +
                ", this node is x86-64; rebuild it here with tmpicc or tmpicxx");
  }
  if (h.e_type == ET_REL) return fail("is an object file; link it with tmpicc or tmpicxx first");
  if (h.e_type == ET_CORE) return fail("is a core dump, not a program");
  if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phoff > size_ ||
      h.e_phnum > (size_ - h.e_phoff) / sizeof(Elf64_Phdr)) {
    return fail("is damaged: its program headers lie outside of the file");
  }
  if (role == Role::kProgram && access(path_.c_str(), X_OK) != 0) return fail("is not executable: chmod +x");
  return {};
}

Result<void> ElfFile::read_program_headers() {
  const auto* first = reinterpret_cast<const Elf64_Phdr*>(bytes_ + header().e_phoff);
  headers_.assign(first, first + header().e_phnum);
  for (const Elf64_Phdr& segment : headers_) {
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
    if (segment.p_offset > size_ || segment.p_filesz > size_ - segment.p_offset ||
        segment.p_filesz > segment.p_memsz) {
      return fail("is damaged: a segment lies outside of the file (was the disk full when it was linked?)");
    }
    loads_.push_back(segment);
  }
  if (header().e_type == ET_EXEC) {
    if (segment(PT_INTERP) == nullptr)
      return fail(std::string("is statically linked; ") + kRebuild + ", without -static");
    return fail("has fixed addresses (linked with -no-pie), so it can be mapped only once; " +
                std::string(kRebuild) + ", without -no-pie");
  }
  if (loads_.empty()) return fail("is damaged: it has no loadable segment");
  auto lower = [](const Elf64_Phdr& a, const Elf64_Phdr& b) { return a.p_vaddr < b.p_vaddr; };
  std::stable_sort(loads_.begin(), loads_.end(), lower);
  return {};
}

const Elf64_Phdr* ElfFile::segment(std::uint32_t type) const {
  auto of_type = [type](const Elf64_Phdr& segment) { return segment.p_type == type; };
  const auto it = std::find_if(headers_.begin(), headers_.end(), of_type);
  return it == headers_.end() ? nullptr : &*it;
}

const void* ElfFile::at(std::uint64_t vaddr) const {
  for (const Elf64_Phdr& segment : loads_) {
    if (vaddr >= segment.p_vaddr && vaddr < segment.p_vaddr + segment.p_filesz) {
      return bytes_ + segment.p_offset + (vaddr - segment.p_vaddr);
    }
  }
  return nullptr;
}

Result<void> ElfFile::read_dynamic() {
  const Elf64_Phdr* section = segment(PT_DYNAMIC);
  const auto* entries = section == nullptr ? nullptr : static_cast<const Elf64_Dyn*>(at(section->p_vaddr));
  if (entries == nullptr) return fail(std::string("is statically linked; ") + kRebuild + ", without -static");
  dynamic_.present = true;
  std::uint64_t strings_at = 0;
  for (const Elf64_Dyn* entry = entries; entry->d_tag != DT_NULL; ++entry)
    read_dynamic_entry(*entry, strings_at);
  const auto* strings = static_cast<const char*>(at(strings_at));
  if (strings == nullptr) return fail("is damaged: its dynamic section has no string table");
  for (const Elf64_Dyn* entry = entries; entry->d_tag != DT_NULL; ++entry) {
    const char* text = strings + entry->d_un.d_val;
    if (entry->d_tag == DT_NEEDED) dynamic_.needed.emplace_back(text);
    if (entry->d_tag == DT_SONAME) dynamic_.soname = text;
    if (entry->d_tag == DT_RPATH) dynamic_.rpath = text;
    if (entry->d_tag == DT_RUNPATH) dynamic_.runpath = text;
  }
  symbols_ = SymbolTable(entries, [this](std::uint64_t vaddr) { return at(vaddr); });
  return {};
}

void ElfFile::read_dynamic_entry(const Elf64_Dyn& entry, std::uint64_t& strings) {
  constexpr std::int64_t kRelrSize = 35, kRelr = 36;  // DT_RELRSZ, DT_RELR: not in every elf.h
  const std::uint64_t value = entry.d_un.d_val;
  DynamicInfo& d = dynamic_;
  switch (entry.d_tag) {
    case DT_STRTAB:
      strings = value;
      break;
    case DT_INIT:
      d.init = value;
      break;
    case DT_FINI:
      d.fini = value;
      break;
    case DT_INIT_ARRAY:
      d.init_array = value;
      break;
    case DT_INIT_ARRAYSZ:
      d.init_array_size = value;
      break;
    case DT_FINI_ARRAY:
      d.fini_array = value;
      break;
    case DT_FINI_ARRAYSZ:
      d.fini_array_size = value;
      break;
    case DT_PREINIT_ARRAY:
      d.preinit_array = value;
      break;
    case DT_PREINIT_ARRAYSZ:
      d.preinit_array_size = value;
      break;
    case DT_RELA:
      d.rela = value;
      break;
    case DT_RELASZ:
      d.rela_size = value;
      break;
    case DT_JMPREL:
      d.plt_rela = value;
      break;
    case DT_PLTRELSZ:
      d.plt_rela_size = value;
      break;
    case kRelr:
      d.relr = value;
      break;
    case kRelrSize:
      d.relr_size = value;
      break;
    case DT_FLAGS:
      d.flags = value;
      d.symbolic |= (value & DF_SYMBOLIC) != 0;
      d.textrel |= (value & DF_TEXTREL) != 0;
      break;
    case DT_FLAGS_1:
      d.flags_1 = value;
      break;
    case DT_SYMBOLIC:
      d.symbolic = true;
      break;
    case DT_TEXTREL:
      d.textrel = true;
      break;
    default:
      break;
  }
}

void ElfFile::read_notes() {
  for (const Elf64_Phdr& segment : headers_) {
    if (segment.p_type != PT_NOTE || segment.p_offset > size_ || segment.p_filesz > size_ - segment.p_offset)
      continue;
    const std::byte* end = bytes_ + segment.p_offset + segment.p_filesz;
    const std::uint64_t mask = segment.p_align == 8 ? 7 : 3;
    for (const std::byte* at = bytes_ + segment.p_offset; at + sizeof(Elf64_Nhdr) <= end;) {
      const auto* note = reinterpret_cast<const Elf64_Nhdr*>(at);
      const std::byte* name = at + sizeof(Elf64_Nhdr);
      const std::byte* description = name + ((note->n_namesz + mask) & ~mask);
      if (description + note->n_descsz > end) break;
      if (note->n_type == 1 && note->n_namesz == 5 && std::memcmp(name, "tmpi", 5) == 0 &&
          note->n_descsz >= 4) {
        note_.present = true;
        std::memcpy(&note_.version, description, 4);
        // The address of main is the last eight bytes, with or without padding after the version.
        if (note->n_descsz >= 12) std::memcpy(&note_.main, description + note->n_descsz - 8, 8);
      }
      at = description + ((note->n_descsz + mask) & ~mask);
    }
  }
}

void ElfFile::read_section_symbols() {
  debug_symbols_ = symbols_.span();
  const Elf64_Ehdr& h = header();
  if (h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shoff > size_ ||
      h.e_shnum > (size_ - h.e_shoff) / sizeof(Elf64_Shdr))
    return;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes_ + h.e_shoff);
  auto inside = [this](const Elf64_Shdr& s) {
    return s.sh_offset <= size_ && s.sh_size <= size_ - s.sh_offset;
  };
  for (int i = 0; i < h.e_shnum; ++i) {
    const Elf64_Shdr& section = sections[i];
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= h.e_shnum) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    if (!inside(section) || !inside(strings)) return;
    debug_symbols_ = {reinterpret_cast<const Elf64_Sym*>(bytes_ + section.sh_offset),
                      section.sh_size / sizeof(Elf64_Sym),
                      reinterpret_cast<const char*>(bytes_ + strings.sh_offset), strings.sh_size};
    return;
  }
}

Result<void> ElfFile::check_loadable(Role role) const {
  if (role == Role::kProgram) {
    const bool pie = (dynamic_.flags_1 & DF_1_PIE) != 0;
    if (segment(PT_INTERP) == nullptr) {
      return fail(pie ? std::string("is statically linked (-static-pie); ") + kRebuild +
                            ", without -static-pie"
                      : "is a shared library, not a program; give tmpirun the program that uses it");
    }
    if (const std::string* other = foreign_mpi(dynamic_.needed)) {
      return fail("was built for another MPI (it needs " + *other + "); " + kRebuild);
    }
    if (!note_.present && segment(PT_TLS) != nullptr) {
      return fail(
          "was not built for tmpi: it is an ordinary executable with thread-local variables, which all ranks "
          "would "
          "share; " +
          std::string(kRebuild));
    }
    if (note_.present && note_.version != 1) {
      return fail("was linked by another version of tmpi (note version " + std::to_string(note_.version) +
                  "); relink it with this tmpicc");
    }
  }
  if (dynamic_.textrel) {
    return fail(
        "has relocations in its code (text relocations), so its ranks could not share it; compile everything "
        "in it with -fPIC");
  }
  for (const Elf64_Phdr& segment : loads_) {
    if ((segment.p_flags & PF_W) != 0 && (segment.p_flags & PF_X) != 0) {
      return fail(
          "has a segment that is writable and executable; relink it without -z execstack tricks, -N or "
          "--omagic");
    }
  }
  const SymbolSpan all = debug_symbols_;
  for (std::size_t i = 0; i < all.count; ++i) {
    const std::uint32_t name = all.symbols[i].st_name;
    if (name < all.strings_size && std::strcmp(all.strings + name, "__morestack") == 0) {
      return fail(
          "uses split stacks (-fsplit-stack), which cannot grow a rank's stack; compile it without and use "
          "tmpirun --stack-size");
    }
  }
  return {};
}

}  // namespace tmpi::privatize
