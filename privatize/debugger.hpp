// Tells debuggers about images: a second r_debug, chained to the dynamic linker's, with a link map per object
// and image. gdb then shows functions and variables of every rank; tmpi-gdb narrows it to one.
#pragma once

#include <link.h>

#include "privatize/image_set.hpp"

namespace tmpi::privatize {

/// One entry of the list; privatize/gdb reads what is behind the link map.
struct DebuggerEntry {
  link_map map;
  int rank;
  std::uint64_t end;  ///< of the image
};

/// Adds the objects of a mapped image. Any thread. Costs about 50 ns and 56 bytes per object.
void announce_image(const ImageSet& set, int index);

/// Removes all entries in an address range, before it is unmapped.
void forget_images(std::uint64_t begin, std::uint64_t end) noexcept;

bool being_traced();

/// Makes an attached debugger look at the list again; does nothing without one (one read of
/// /proc/self/status).
void publish_to_debugger();

}  // namespace tmpi::privatize
