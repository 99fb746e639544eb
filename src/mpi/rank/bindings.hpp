// Bindings: where the code lies that calls MPI for the program, in another language's name (src/fortran). Each
// rank has a copy of it, as it has of the program. What reports a call names the program's line, not one there.
#pragma once

#include <cstdint>

namespace tmpi::mpi {

/// Half-open ranges of addresses; empty if the program uses no such library.
struct Bindings {
  std::uintptr_t begin = 0, end = 0;
  std::uintptr_t own_begin = 0,
                 own_end = 0;  ///< calls from here are the library's own: nobody has asked for them

  bool contain(std::uintptr_t address) const noexcept { return address - begin < end - begin; }
  bool own(std::uintptr_t address) const noexcept { return address - own_begin < own_end - own_begin; }
};

/// The call in the program that has led to a call of MPI.
struct Caller {
  const void* address = nullptr;  ///< where it returns to
  bool own = false;               ///< the bindings call MPI for their own purposes
};

struct Rank;

/// `frame`: __builtin_frame_address(0) of the function that the calling rank's call of MPI is bound to. Bindings
/// are compiled with frame pointers, so that their frames can be passed over. Does not suspend.
Caller caller_of(const Rank& rank, const void* frame) noexcept;

}  // namespace tmpi::mpi
