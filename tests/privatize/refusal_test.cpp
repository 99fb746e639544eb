// Files that the loader refuses: each with a sentence that says what is wrong and what to do.
#include <doctest/doctest.h>
#include <elf.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/privatize/harness.hpp"
#include "ult/fiber.hpp"

using namespace tmpi::test;

namespace {

std::string refusal(const std::string& path) {
  return run({.program = path, .ranks = 1}).error;
}

bool says(const std::string& text, std::initializer_list<const char*> parts) {
  CAPTURE(text);
  for (const char* part : parts) {
    CAPTURE(part);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
  }
  return true;
}

std::string scratch(const std::string& name, const std::string& contents, int mode = 0755) {
  const std::string path = program("scratch-" + name);
  std::ofstream(path) << contents;
  chmod(path.c_str(), static_cast<mode_t>(mode));
  return path;
}

/// The program with one word at `offset` of the file changed.
std::string patched(const std::string& name, std::size_t offset, const std::string& bytes) {
  std::ifstream in(program("globals"), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  text.replace(offset, bytes.size(), bytes);
  return scratch(name, text);
}

/// The program with every segment writable and executable.
std::string writable_code() {
  std::ifstream in(program("globals"), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  auto& header = *reinterpret_cast<Elf64_Ehdr*>(text.data());
  auto* segments = reinterpret_cast<Elf64_Phdr*>(text.data() + header.e_phoff);
  for (int i = 0; i < header.e_phnum; ++i) segments[i].p_flags = PF_R | PF_W | PF_X;
  return scratch("writable-code", text);
}

/// The program with another value of an entry of its dynamic section.
std::string with_dynamic(const std::string& name, std::int64_t tag, std::uint64_t value) {
  std::ifstream in(program("globals"), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto& header = *reinterpret_cast<Elf64_Ehdr*>(text.data());
  const auto* segments = reinterpret_cast<Elf64_Phdr*>(text.data() + header.e_phoff);
  for (int i = 0; i < header.e_phnum; ++i) {
    if (segments[i].p_type != PT_DYNAMIC) continue;
    auto* entry = reinterpret_cast<Elf64_Dyn*>(text.data() + segments[i].p_offset);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == tag) entry->d_un.d_val = value;
    }
  }
  return scratch(name, text);
}

/// What an edit of relocations needs. The first segment is at the same place in the file and in memory.
struct Relocations {
  Elf64_Rela* relocation;
  Elf64_Sym* symbol;
  const char* strings;
  std::uint64_t end;  ///< of the writable data
};

/// The smallest program after edit(Relocations).
template <class Edit>
std::string with_relocations(const std::string& name, Edit&& edit) {
  std::ifstream in(program("trivial"), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto& header = *reinterpret_cast<Elf64_Ehdr*>(text.data());
  const auto* segments = reinterpret_cast<Elf64_Phdr*>(text.data() + header.e_phoff);
  Relocations found{};
  for (int i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0)
      found.end = (segment.p_vaddr + segment.p_memsz + 4095) & ~std::uint64_t{4095};
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<Elf64_Dyn*>(text.data() + segment.p_offset);
    for (; entry->d_tag != DT_NULL; ++entry) {
      char* const at = text.data() + entry->d_un.d_ptr;
      if (entry->d_tag == DT_RELA) found.relocation = reinterpret_cast<Elf64_Rela*>(at);
      if (entry->d_tag == DT_SYMTAB) found.symbol = reinterpret_cast<Elf64_Sym*>(at);
      if (entry->d_tag == DT_STRTAB) found.strings = at;
    }
  }
  edit(found);
  return scratch(name, text);
}

/// A pair of words for a static thread-local variable of which the second lies beyond the data.
void halve_a_pair(const Relocations& found) {
  std::uint64_t variable = 1;  // a local one would have its second word stored with the first
  while (found.symbol[variable].st_shndx == SHN_UNDEF ||
         ELF64_ST_TYPE(found.symbol[variable].st_info) != STT_OBJECT)
    ++variable;
  found.symbol[variable].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS);
  found.relocation[0].r_info = ELF64_R_INFO(variable, R_X86_64_TPOFF64);
  found.relocation[1].r_info = ELF64_R_INFO(variable, R_X86_64_DTPMOD64);
  found.relocation[1].r_offset = found.end - 8;
}

/// A copy of a variable that is a function of the runtime, of which nobody knows how long it is.
void copy_a_function(const Relocations& found) {
  std::uint64_t start = 1;
  while (found.strings + found.symbol[start].st_name != std::string("__libc_start_main")) ++start;
  found.symbol[start].st_size = 1024;
  found.relocation[0].r_info = ELF64_R_INFO(start, R_X86_64_COPY);
  found.relocation[0].r_offset = found.end - 1024;
}

}  // namespace

TEST_CASE("files that are no program") {
  says(refusal(program("nowhere")), {"nowhere", "no such file"});
  says(refusal(program("")), {"is a directory"});
  says(refusal(scratch("script", "#!/bin/sh\nexit 0\n")), {"is a script", "give tmpirun the program"});
  says(refusal(
           scratch("text", "hello, this is no ELF file at all; it is merely text that goes on for a while")),
       {"not an ELF program", "rebuild it with tmpicc"});
  says(refusal(scratch("empty", "")), {"is empty"});
  says(refusal(program("libsimple.so")), {"is a shared library, not a program"});
  says(refusal(program("object.o")), {"is an object file", "link it with tmpicc"});
}

TEST_CASE("programs of another form") {
  says(refusal(program("plain-no-pie")), {"fixed addresses", "rebuild it with tmpicc", "without -no-pie"});
  says(refusal(program("plain-static")), {"statically linked", "without -static"});
  says(refusal(program("plain-static-pie")), {"statically linked", "without -static"});
#if defined(TMPI_ASAN) || defined(TMPI_TSAN)
  says(refusal(program("plain-tls")), {"was not built for tmpi", "thread-local", "rebuild it with tmpicc"});
#else
  says(refusal(program("plain-large-tls")),
       {"bytes of thread-local variables", "a plain compiler has linked", "link it with tmpicc"});
#endif
  says(refusal(program("text-relocations")), {"relocations in its code", "-fPIC"});
  says(refusal(program("split-stack")), {"split stacks", "--stack-size"});
  says(refusal(writable_code()), {"writable and executable"});
  says(refusal(program("other-mpi")), {"another MPI", "libmpich.so.12", "rebuild it with tmpicc"});
  says(refusal(program("needs-missing")), {"needs the library libmissing.so", "LD_LIBRARY_PATH"});
  says(refusal(patched("machine", 18, std::string("\xb7\0", 2))), {"64-bit ARM", "x86-64"});
  says(refusal(patched("damaged", 32, std::string("\xff\xff\xff\x7f", 4))), {"damaged"});
  says(refusal(with_dynamic("init-array", DT_INIT_ARRAY, 0x7fffffffffff0000)), {"damaged", "constructors"});
  says(refusal(with_dynamic("strings", DT_STRTAB, ~std::uint64_t{0})), {"damaged", "string table"});
  says(refusal(with_dynamic("string-size", DT_STRSZ, ~std::uint64_t{0})), {"damaged", "string table"});
  says(refusal(with_dynamic("relocations", DT_RELASZ, std::uint64_t{1} << 40)), {"damaged", "relocations"});
  says(refusal(with_dynamic("symbols", DT_SYMTAB, 7)), {"damaged", "symbol"});
  says(refusal(with_relocations("half-a-pair", halve_a_pair)), {"outside of the writable data"});
  says(refusal(with_relocations("copied-function", copy_a_function)), {"a copy of what is a function"});
  const std::string unreadable = patched("not-executable", 0, "\x7f");
  chmod(unreadable.c_str(), 0644);
  says(refusal(unreadable), {"not executable", "chmod +x"});
}

TEST_CASE("all undefined symbols are listed at once") {
  const std::string text = refusal(program("undefined"));
  says(text, {"3 undefined symbols", "first_missing", "second_missing", "missing_variable", "needed by"});
}

TEST_CASE("more ranks than vm.max_map_count allows") {
  says(run({.program = program("trivial"), .ranks = 1000000}).error,
       {"1000000 ranks", "vm.max_map_count", "at most", "sysctl -w vm.max_map_count="});
}
