// Machine: what the loader expects of ELF files and of their relocations, which differs from processor to
// processor: x86-64 (System V ABI, AMD64 supplement, table 4.10). The instructions are in tls_descriptor.S and
// entry.cpp.
#pragma once

#include <elf.h>

#include "base/platform.hpp"

namespace tmpi::privatize {

inline constexpr Elf64_Half kElfMachine = EM_X86_64;

namespace relocation {
enum Type : std::uint32_t {
  kNone = R_X86_64_NONE,
  kRelative = R_X86_64_RELATIVE,
  kRelative64 = 38,                    ///< R_X86_64_RELATIVE64, which elf.h does not name
  kIndirect = R_X86_64_IRELATIVE,      ///< what a function of the file returns
  kAddress = R_X86_64_64,              ///< a symbol, and an addend
  kGlobalData = R_X86_64_GLOB_DAT,     ///< an entry of the global offset table
  kJumpSlot = R_X86_64_JUMP_SLOT,      ///< an entry of the procedure linkage table
  kTlsModule = R_X86_64_DTPMOD64,      ///< the module of a thread-local variable
  kTlsOffset = R_X86_64_DTPOFF64,      ///< its place in the module's block
  kTlsFromPointer = R_X86_64_TPOFF64,  ///< its distance from the thread pointer
  kTlsDescriptor = R_X86_64_TLSDESC,
  kSize = R_X86_64_SIZE64,
  kCopy = R_X86_64_COPY,  ///< a library's variable that lives in the executable
};
}  // namespace relocation

/// The processor's level among those that glibc has directories for (glibc-hwcaps/x86-64-v3), from 1 on.
#define TMPI_MACHINE_LEVEL "x86-64-v"
inline int machine_level() {
  __builtin_cpu_init();
  const auto has = [](bool a, bool b, bool c) { return a && b && c; };
  if (!has(__builtin_cpu_supports("sse4.2"), __builtin_cpu_supports("popcnt"),
           __builtin_cpu_supports("ssse3")))
    return 1;
  if (!has(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("bmi2"), __builtin_cpu_supports("fma")))
    return 2;
  return has(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"),
             __builtin_cpu_supports("avx512vl"))
             ? 4
             : 3;
}

}  // namespace tmpi::privatize
