// Which libraries ranks share, and why: the one table of it. Everything else that a program, a library of its or a
// dlopen brings is a rank's own. Header only: tmpirun reads it too.
#pragma once

#include <string_view>

namespace tmpi::privatize {

enum class SharedKind {
  kLibc,  ///< libc's family: whatever is found, a process has one
  kEarlySanitizer,  ///< a runtime that cannot be loaded into a process that runs: it ends it, or has too many thread-locals
  kSanitizer,  ///< one that can
  kOther,
};

/// Libraries that cannot be a rank's own, or need not be.
struct SharedLibrary {
  SharedKind kind;
  std::string_view names;  ///< beginnings of sonames, separated by blanks
  std::string_view why;    ///< as a phrase, for tables
};

inline constexpr SharedLibrary kSharedLibraries[] = {
    {SharedKind::kLibc,
     "libc.so. libm.so. libpthread.so. libdl.so. librt.so. libutil.so. libanl.so. libresolv.so. libnsl.so. "
     "libmvec.so. "
     "libnss_ libBrokenLocale.so. libthread_db.so. libc_malloc_debug.so. ld-linux",
     "libc's family: one heap and one set of threads for the process; what of its state is a rank's, the "
     "shim keeps"},
    {SharedKind::kOther, "libgcc_s.so.",
     "the unwinder: libc opens it by itself, and it walks from a rank's frames into tmpi's"},
    {SharedKind::kOther, "libquadmath.so. libbrotlicommon.so. libbrotlidec.so. libkeyutils.so.",
     "keeps no state: functions of what they are given; a mapping less each"},
    {SharedKind::kEarlySanitizer,
     "libasan.so. liblsan.so. libtsan.so. libhwasan.so. libclang_rt.asan libclang_rt.tsan libclang_rt.hwasan",
     "a sanitizer's runtime: it watches the whole process, from its start"},
    {SharedKind::kSanitizer, "libubsan.so. libclang_rt.", "a sanitizer's runtime"},
    {SharedKind::kOther, "libibverbs.so. librdmacm.so. libmlx4.so. libmlx5.so. libefa.so.",
     "talks to network adapters once per process"},
    {SharedKind::kOther,
     "libcuda.so. libnvidia- libcudadebugger.so. libhsa-runtime64.so. libamdhip64.so. libze_loader.so. "
     "libOpenCL.so.",
     "talks to accelerators once per process"},
};

/// The row that names this soname, or null: it is a rank's own.
constexpr const SharedLibrary* shared_library(std::string_view soname) noexcept {
  for (const SharedLibrary& row : kSharedLibraries) {
    for (std::string_view rest = row.names; !rest.empty();) {
      const std::string_view beginning = rest.substr(0, rest.find(' '));
      rest.remove_prefix(beginning.size() < rest.size() ? beginning.size() + 1 : rest.size());
      if (soname.starts_with(beginning)) return &row;
    }
  }
  return nullptr;
}

constexpr bool is_of_kind(std::string_view soname, SharedKind kind) noexcept {
  const SharedLibrary* const row = shared_library(soname);
  return row != nullptr && row->kind == kind;
}
constexpr bool is_libcs(std::string_view soname) noexcept {
  return is_of_kind(soname, SharedKind::kLibc);
}
constexpr bool is_early_sanitizer(std::string_view soname) noexcept {
  return is_of_kind(soname, SharedKind::kEarlySanitizer);
}
constexpr bool is_sanitizer(std::string_view soname) noexcept {
  return is_early_sanitizer(soname) || is_of_kind(soname, SharedKind::kSanitizer);
}

}  // namespace tmpi::privatize
