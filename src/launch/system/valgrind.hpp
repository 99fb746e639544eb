// valgrind does not run node processes: it would end in a crash of its own making.
#pragma once

#include <cstdlib>
#include <cstring>

namespace tmpi::launch {

inline constexpr char kNotUnderValgrind[] =
    "valgrind cannot run a process of many ranks, whose globals and thread-locals it does not find; run the "
    "program "
    "by itself under it, as a job of one rank: valgrind PROGRAM";

/// It preloads libraries of its own into whatever it runs.
inline bool under_valgrind() noexcept {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_") != nullptr;
}

}  // namespace tmpi::launch
