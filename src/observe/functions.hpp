// The MPI functions that are recorded, and the wrappers around them.
#pragma once

#include <cstdint>
#include <span>

#include "observe/call_class.hpp"

namespace tmpi::observe {

/// Names by index, as in Site::function and Event::function: "MPI_Send".
const char* function_name(std::uint16_t function) noexcept;

CallClass class_of_function(std::uint16_t function) noexcept;

/// Of a blocking collective, its place in the table of algorithms (mpi::Collective); -1: of no such.
int collective_of_function(std::uint16_t function) noexcept;

/// What a program's reference to `name` is bound to while it is observed: the wrapper of MPI_X for "MPI_X"
/// and for "PMPI_X" alike, so that every entry into the library is recorded, once; null if the function is not
/// recorded or not part of this library.
const void* recorder_of(const char* name) noexcept;

/// The wrappers go on to these instead of the library where there is one, by name. Before any rank runs.
void go_on_to(const void* (*version_of)(const char* name)) noexcept;

}  // namespace tmpi::observe
