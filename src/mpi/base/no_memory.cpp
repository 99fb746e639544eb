#include "mpi/base/no_memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace tmpi::mpi {

detail::Endings detail::g_endings;

namespace {

// A length that no container can have is a request for memory that no machine has.
bool is_no_memory(const std::exception& thrown) noexcept {
  return dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr ||
         dynamic_cast<const std::length_error*>(&thrown) != nullptr;
}

}  // namespace

Err error_of(const std::exception& thrown) noexcept {
  if (is_no_memory(thrown))
    return fail(
        MPI_ERR_NO_MEM,
        "the machine, or a limit (ulimit -v, a container's), has none left: use fewer ranks per node, "
        "or let the program keep less");
  return fail(MPI_ERR_INTERN, "a defect of tmpi: {}", thrown.what());
}

void end_for_no_memory(const char* what) noexcept {
  if (detail::g_endings.no_memory != nullptr) detail::g_endings.no_memory(what);
  std::fprintf(stderr, "tmpi: there is no memory for %s, and without it the program cannot go on\n", what);
  std::_Exit(EXIT_FAILURE);
}

void end_for(const std::exception& thrown, const char* what) noexcept {
  if (is_no_memory(thrown)) end_for_no_memory(what);
  if (detail::g_endings.defect != nullptr) detail::g_endings.defect(what, thrown.what());
  std::fprintf(stderr, "tmpi: a defect of tmpi in the middle of %s: %s\n", what, thrown.what());
  std::_Exit(EXIT_FAILURE);
}

void end_for_exception_of(const char* callback) noexcept {
  const char* what = "of a type of its own";
  try {
    throw;
  } catch (const std::exception& thrown) {
    what = thrown.what();
  } catch (...) {
    // Only std::exception can say what it is.
  }
  if (detail::g_endings.exception != nullptr) detail::g_endings.exception(callback, what);
  std::fprintf(stderr, "tmpi: the program's %s has thrown an exception: %s\n", callback, what);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace tmpi::mpi
