// How a rank starts and ends: the stack as the kernel would lay it out, constructors, main, and what exit(3)
// asks of the loader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "privatize/image_set.hpp"

namespace tmpi::privatize {

/// Places in the program's set that the entry needs; 0: absent. All are offsets in the image.
struct EntryPoints {
  std::uint64_t main = 0;        ///< absent when the program does not export it: then start is used
  std::uint64_t start = 0;       ///< e_entry
  std::uint64_t shim_start = 0;  ///< tmpi_shim_start
  std::uint64_t shim_exit = 0;   ///< the shim's exit; absent: fallback_exit
  std::uint64_t image_rank = 0;  ///< the shim's tmpi_image_rank
  std::uint64_t environ = 0;     ///< the shim's environ
};
EntryPoints find_entry_points(const ImageSet& set);

/// Calls a function of an image: main, a constructor, a destructor (which takes no arguments and returns nothing). For
/// unwinders the stack begins there. SUSPENDS whenever the program does.
extern "C" int tmpi_enter_image(int (*function)(int, char**, char**), int argc, char** argv, char** envp);

/// Runs image `index` on the calling fiber. Does not return; SUSPENDS whenever the program does.
[[noreturn]] void run_rank(const ImageSet& set, int index, const EntryPoints& points,
                           const std::vector<std::string>& arguments,
                           std::vector<std::string> environment) noexcept;

/// Runs the constructors of the set's image: argc, argv, envp as the calling rank's program got them.
void run_constructors(const ImageSet& set, int index, int argc, char** argv, char** envp);
void run_destructors(const ImageSet& set, int index);

}  // namespace tmpi::privatize
