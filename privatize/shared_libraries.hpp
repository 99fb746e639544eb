// Which libraries ranks share, and why: the one table of it. Everything else that a program, a library of its or a
// dlopen brings is a rank's own. Header only: tmpirun reads it too.
#pragma once

#include <string_view>

namespace tmpi::privatize {

/// Libraries that cannot be a rank's own, or need not be.
struct SharedLibrary {
  std::string_view names;  ///< beginnings of sonames, separated by blanks
  std::string_view why;    ///< as a phrase, for tables
};

inline constexpr SharedLibrary kSharedLibraries[] = {
    {"libc.so. libm.so. libpthread.so. libdl.so. librt.so. libutil.so. libanl.so. libresolv.so. libnsl.so. "
     "libmvec.so. "
     "libnss_ libBrokenLocale.so. libthread_db.so. libc_malloc_debug.so. ld-linux",
     "libc's family: one heap and one set of threads for the process; what of its state is a rank's, the "
     "shim keeps"},
    {"libgcc_s.so.", "the unwinder: libc opens it by itself, and it walks from a rank's frames into tmpi's"},
    {"libquadmath.so. libbrotlicommon.so. libbrotlidec.so. libkeyutils.so.",
     "keeps no state: functions of what they are given; a mapping less each"},
    {"libasan.so. liblsan.so. libtsan.so. libubsan.so. libhwasan.so. libclang_rt.",
     "a sanitizer's runtime: it watches the whole process"},
    {"libibverbs.so. librdmacm.so. libmlx4.so. libmlx5.so. libefa.so.",
     "talks to network adapters once per process"},
    {"libcuda.so. libnvidia- libcudadebugger.so. libhsa-runtime64.so. libamdhip64.so. libze_loader.so. "
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

}  // namespace tmpi::privatize
