// What happens when there is no memory. Inside the library an allocation that fails throws, as everywhere in
// C++; no exception leaves it. A call that can still be given up fails with MPI_ERR_NO_MEM; one that others
// have seen begin, or a message that has arrived, cannot: then the job ends with a sentence. docs/design/errors.md,
// "No memory".
#pragma once

#include <cxxabi.h>

#include <exception>
#include <new>

#include "mpi/base/error.hpp"

namespace tmpi::mpi {

namespace detail {
/// How the job ends. Set by Job::create(); a program started by itself has none until MPI_Init.
struct Endings {
  void (*no_memory)(const char* what) noexcept = nullptr;
  void (*exception)(const char* callback, const char* what) noexcept = nullptr;
  void (*defect)(const char* where, const char* what) noexcept = nullptr;
};
extern Endings g_endings;
}  // namespace detail

/// MPI_ERR_NO_MEM for what an allocation throws, MPI_ERR_INTERN for anything else. Cold.
[[gnu::cold, gnu::noinline]] Err error_of(const std::exception& thrown) noexcept;

/// Runs a body of the library: what it throws becomes the error that it returns. Costs nothing while nothing
/// is thrown.
template <class Body>
[[gnu::always_inline]] inline Err guarded(Body&& body) {
  try {
    return body();
  } catch (const std::exception& thrown) {
    return error_of(thrown);
  }
}

/// Ends the job: there is no memory for `what` ("the state of a message that has arrived"), and nobody to
/// whom an error could be returned. Allocates nothing; any thread of a node process.
[[noreturn, gnu::cold]] void end_for_no_memory(const char* what) noexcept;

/// Ends the job for what has been thrown in the middle of `what`: end_for_no_memory(), or a defect of tmpi.
[[noreturn, gnu::cold, gnu::noinline]] void end_for(const std::exception& thrown, const char* what) noexcept;

/// Runs what must not be given up half way, since others count on it: whatever is thrown there, the job ends.
template <class Body>
inline decltype(auto) with_memory_for(const char* what, Body&& body) {
  try {
    return body();
  } catch (const std::exception& thrown) {
    end_for(thrown, what);
  }
}

/// Ends the job: a callback of the program has thrown an exception. Cold, called while it is being handled.
[[noreturn, gnu::cold]] void end_for_exception_of(const char* callback) noexcept;

/// Calls a function of the program from the middle of an operation, through which no exception can pass:
/// `callback` says which ("reduction operator"). Error handlers are not called like this, since whoever calls
/// MPI may catch what they throw.
template <class Function>
inline decltype(auto) call_program(const char* callback, Function&& function) {
  try {
    return function();
  } catch (const abi::__forced_unwind&) {
    throw;  // pthread_exit, pthread_cancel
  } catch (...) {
    end_for_exception_of(callback);
  }
}

}  // namespace tmpi::mpi
