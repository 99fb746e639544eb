// The wrappers that a program's MPI functions are bound to under --check.
#pragma once

namespace tmpi::check {

/// What a program's reference to `name` ("MPI_Send", "PMPI_Send") is bound to; null if the function is not
/// checked or not part of this library.
const void* checker_of(const char* name) noexcept;

/// The checked functions go on to these instead of the library where there is one, by name. Before any rank runs.
void go_on_to(const void* (*version_of)(const char* name)) noexcept;

}  // namespace tmpi::check
