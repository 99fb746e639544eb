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
#include <tuple>

#include "privatize/machine.hpp"

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

}  // namespace

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
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (fd_ >= 0) close(fd_);
}

Result<void> ElfFile::map(const std::string& path) {
  path_ = path;
  fd_ =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO has no end that would be waited for
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
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return fail("is empty; was it linked completely?");
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (memory == MAP_FAILED) return fail(std::string("cannot be mapped: ") + std::strerror(errno));
  bytes_ = {static_cast<const std::byte*>(memory), size};
  return {};
}

Result<void> ElfFile::check_header(Role role) const {
  if (bytes_.size() >= 2 && std::memcmp(bytes_.data(), "#!", 2) == 0) {
    return fail(
        "is a script; ranks are mapped from a compiled program, so give tmpirun the program that the script "
        "starts");
  }
  if (bytes_.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0) {
    return fail(std::string("is not an ELF program; ") + kRebuild);
  }
  const Elf64_Ehdr& h = header();
  if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != kElfMachine) {
    return fail("is built for " + machine_name(h.e_machine) +
                ", this node is x86-64; rebuild it here with tmpicc or tmpicxx");
  }
  if (h.e_type == ET_REL) return fail("is an object file; link it with tmpicc or tmpicxx first");
  if (h.e_type == ET_CORE) return fail("is a core dump, not a program");
  if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phnum == 0 ||
      records_in<Elf64_Phdr>(from(bytes_, h.e_phoff), h.e_phnum).empty()) {
    return fail("is damaged: its program headers lie outside of the file");
  }
  if (role == Role::kProgram && access(path_.c_str(), X_OK) != 0) return fail("is not executable: chmod +x");
  return {};
}

Result<void> ElfFile::read_program_headers() {
  headers_ = records_in<Elf64_Phdr>(from(bytes_, header().e_phoff), header().e_phnum);
  for (const Elf64_Phdr& segment : headers_) {
    if (auto r = check_segment(segment); !r) return r;
    if (segment.p_type == PT_LOAD && segment.p_memsz != 0) loads_.push_back(segment);
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

// What of a segment the loader counts with: it lies in the file, and its addresses are some that a program
// can have, so that sums of them do not overflow.
Result<void> ElfFile::check_segment(const Elf64_Phdr& segment) const {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 47;  // of a process's addresses
  constexpr std::uint64_t kMostAligned = std::uint64_t{1} << 30;
  if (segment.p_type != PT_LOAD && segment.p_type != PT_TLS) return {};
  const bool only_zeros = segment.p_type == PT_TLS && segment.p_filesz == 0;
  if (!only_zeros &&
      (segment.p_offset > bytes_.size() || segment.p_filesz > bytes_.size() - segment.p_offset ||
       segment.p_filesz > segment.p_memsz)) {
    return fail("is damaged: a segment lies outside of the file (was the disk full when it was linked?)");
  }
  if (segment.p_vaddr > kEnd || segment.p_memsz > kEnd - segment.p_vaddr) {
    return fail("is damaged: a segment lies at addresses that no program can have");
  }
  if (segment.p_align > kMostAligned || (segment.p_align & (segment.p_align - 1)) != 0) {
    return fail("is damaged: a segment is to be aligned to " + std::to_string(segment.p_align) + " bytes");
  }
  return {};
}

const Elf64_Phdr* ElfFile::segment(std::uint32_t type) const {
  auto of_type = [type](const Elf64_Phdr& segment) { return segment.p_type == type; };
  const auto it = std::find_if(headers_.begin(), headers_.end(), of_type);
  return it == headers_.end() ? nullptr : &*it;
}

ElfBytes ElfFile::bytes_at(std::uint64_t vaddr) const {
  for (const Elf64_Phdr& segment : loads_) {
    if (vaddr >= segment.p_vaddr && vaddr - segment.p_vaddr < segment.p_filesz)
      return from(part_of(bytes_, segment.p_offset, segment.p_filesz), vaddr - segment.p_vaddr);
  }
  return {};
}

bool ElfFile::in_memory(std::uint64_t vaddr, std::uint64_t size, std::uint32_t flags) const {
  return std::any_of(loads_.begin(), loads_.end(), [&](const Elf64_Phdr& segment) {
    return (segment.p_flags & flags) == flags && vaddr >= segment.p_vaddr &&
           vaddr - segment.p_vaddr <= segment.p_memsz && size <= segment.p_memsz - (vaddr - segment.p_vaddr);
  });
}

Result<void> ElfFile::read_dynamic() {
  const Elf64_Phdr* section = segment(PT_DYNAMIC);
  if (section == nullptr) return fail(std::string("is statically linked; ") + kRebuild + ", without -static");
  auto entries = records_in<Elf64_Dyn>(bytes_at(section->p_vaddr));
  const auto end = std::find_if(entries.begin(), entries.end(),
                                [](const Elf64_Dyn& entry) { return entry.d_tag == DT_NULL; });
  if (end == entries.end())
    return fail("is damaged: its dynamic section lies outside of the file or has no end");
  entries = entries.first(static_cast<std::size_t>(end - entries.begin()));
  dynamic_.present = true;
  std::uint64_t strings_at = 0, strings_size = 0;
  for (const Elf64_Dyn& entry : entries) {
    read_dynamic_entry(entry);
    if (entry.d_tag == DT_STRTAB) strings_at = entry.d_un.d_val;
    if (entry.d_tag == DT_STRSZ) strings_size = entry.d_un.d_val;
  }
  const ElfStrings strings(part_of(bytes_at(strings_at), 0, strings_size));
  if (strings.empty()) return fail("is damaged: its dynamic section has no string table");
  for (const Elf64_Dyn& entry : entries) {
    const char* text = strings.at(entry.d_un.d_val);
    if (entry.d_tag == DT_NEEDED) dynamic_.needed.emplace_back(text);
    if (entry.d_tag == DT_SONAME) dynamic_.soname = text;
    if (entry.d_tag == DT_RPATH) dynamic_.rpath = text;
    if (entry.d_tag == DT_RUNPATH) dynamic_.runpath = text;
  }
  symbols_ = SymbolTable(entries, [this](std::uint64_t vaddr) { return bytes_at(vaddr); });
  return {};
}

void ElfFile::read_dynamic_entry(const Elf64_Dyn& entry) {
  constexpr std::int64_t kRelrSize = 35, kRelr = 36;  // DT_RELRSZ, DT_RELR: not in every elf.h
  const std::uint64_t value = entry.d_un.d_val;
  DynamicInfo& d = dynamic_;
  switch (entry.d_tag) {
    case DT_DEBUG:
      dynamic_.debug = true;
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
    if (segment.p_type != PT_NOTE) continue;
    const ElfBytes notes = part_of(bytes_, segment.p_offset, segment.p_filesz);
    const std::uint64_t mask = segment.p_align == 8 ? 7 : 3;
    for (std::uint64_t at = 0; at < notes.size();) {
      const auto* note = record_at<Elf64_Nhdr>(notes, at);
      if (note == nullptr) break;
      const std::uint64_t name_at = at + sizeof(Elf64_Nhdr);
      const std::uint64_t text_at = name_at + ((note->n_namesz + mask) & ~mask);
      const ElfBytes name = part_of(notes, name_at, note->n_namesz);
      const ElfBytes text = part_of(notes, text_at, note->n_descsz);
      if (note->n_type == 1 && name.size() == 5 && std::memcmp(name.data(), "tmpi", 5) == 0 &&
          text.size() >= 4) {
        note_.present = true;
        std::memcpy(&note_.version, text.data(), 4);
        // The address of main is the last eight bytes, with or without padding after the version.
        if (text.size() >= 12) std::memcpy(&note_.main, text.last(8).data(), 8);
      }
      at = text_at + ((note->n_descsz + mask) & ~mask);
    }
  }
}

void ElfFile::read_section_symbols() {
  debug_symbols_ = symbols_.span();
  const Elf64_Ehdr& h = header();
  if (h.e_shentsize != sizeof(Elf64_Shdr)) return;
  const auto sections = records_in<Elf64_Shdr>(from(bytes_, h.e_shoff), h.e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto symbols = records_in<Elf64_Sym>(part_of(bytes_, section.sh_offset, section.sh_size));
    if (!symbols.empty())
      debug_symbols_ = {symbols, ElfStrings(part_of(bytes_, strings.sh_offset, strings.sh_size))};
    return;
  }
}

Result<void> ElfFile::check_loadable(Role role) {
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
    const Elf64_Phdr* const tls = segment(PT_TLS);
    placed_tls_ = !note_.present && tls != nullptr && tls->p_memsz != 0;
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
  for (const Elf64_Sym& symbol : debug_symbols_.symbols) {
    if (std::strcmp(debug_symbols_.strings.at(symbol.st_name), "__morestack") == 0) {
      return fail(
          "uses split stacks (-fsplit-stack), which cannot grow a rank's stack; compile it without and use "
          "tmpirun --stack-size");
    }
  }
  return check_places(role);
}

// What is read, called or written through addresses of the file lies in the file's memory.
Result<void> ElfFile::check_places(Role role) const {
  const DynamicInfo& d = dynamic_;
  auto outside = [this](const char* what) {
    return fail(std::string("is damaged: ") + what + " lies outside of its segments");
  };
  const std::tuple<std::uint64_t, const char*> functions[] = {
      {role == Role::kProgram ? header().e_entry : 0, "its entry point"},
      {note_.main, "its main function"},
      {d.init, "its initialisation function"},
      {d.fini, "its termination function"}};
  for (const auto& [code, what] : functions) {
    if (code != 0 && !in_memory(code, 1, PF_X)) return outside(what);
  }
  const std::tuple<std::uint64_t, std::uint64_t, const char*> arrays[] = {
      {d.init_array, d.init_array_size, "its list of constructors"},
      {d.fini_array, d.fini_array_size, "its list of destructors"},
      {d.preinit_array, d.preinit_array_size, "its list of early constructors"}};
  for (const auto& [array, size, what] : arrays) {
    if (size != 0 && (!in_memory(array, size) || array % sizeof(void*) != 0)) return outside(what);
  }
  const std::tuple<std::uint64_t, std::uint64_t> tables[] = {
      {d.rela, d.rela_size}, {d.plt_rela, d.plt_rela_size}, {d.relr, d.relr_size}};
  for (const auto& [table, size] : tables) {
    if (size != 0 && records_in<std::uint64_t>(part_of(bytes_at(table), 0, size)).empty())
      return outside("a table of relocations");
  }
  if (const Elf64_Phdr* tls = segment(PT_TLS)) {
    if (tls->p_filesz != 0 && !in_memory(tls->p_vaddr, tls->p_filesz))
      return outside("the initial data of thread-local variables");
  }
  if (const Elf64_Phdr* frames = segment(PT_GNU_EH_FRAME)) {
    if (!in_memory(frames->p_vaddr, frames->p_memsz)) return outside("its table of stack frames");
  }
  return {};
}

}  // namespace tmpi::privatize
