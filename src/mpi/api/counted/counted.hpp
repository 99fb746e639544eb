// Functions that exist twice: MPI_Send with counts of type int, and MPI_Send_c with counts of type MPI_Count
// (MPI report, 2.5.8). Every file in api/counted/ is compiled twice, so that both forms have one text:
//
//   int TMPI_COUNTED(Send)(const void* buf, Count count, ...) {
//     return on_comm(TMPI_COUNTED_NAME(Send), comm, ...);
//   }
//   TMPI_COUNTED_PROFILED(Send);
//
// The library works with MPI_Count inside, so there is nothing else to do; the compiler compares each form
// with its prototype in mpi.h, which is generated from the table of functions.
#pragma once

#include <limits>

#include "mpi/api/profiled.hpp"

#ifdef TMPI_LARGE_COUNTS
#define TMPI_COUNTED(function) PMPI_##function##_c
#define TMPI_COUNTED_NAME(function) "MPI_" #function "_c"
#define TMPI_COUNTED_PROFILED(function) TMPI_PROFILED(MPI_##function##_c)
#else
#define TMPI_COUNTED(function) PMPI_##function
#define TMPI_COUNTED_NAME(function) "MPI_" #function
#define TMPI_COUNTED_PROFILED(function) TMPI_PROFILED(MPI_##function)
#endif

namespace tmpi::mpi {

#ifdef TMPI_LARGE_COUNTS
using Count = MPI_Count;        // "int" of the one form, "MPI_Count" of the other
using Displacement = MPI_Aint;  // "int" of the one form, "MPI_Aint" of the other
using ByteCount = MPI_Count;    // "MPI_Aint" of the one form, "MPI_Count" of the other
using UserFunction = MPI_User_function_c;
constexpr bool kLargeCounts = true;
#else
using Count = int;
using Displacement = int;
using ByteCount = MPI_Aint;
using UserFunction = MPI_User_function;
constexpr bool kLargeCounts = false;
#endif

/// A count for the user; MPI_UNDEFINED if the user's type cannot hold it (MPI report, 3.2.5, 5.1.5).
/// Internal linkage: the two forms differ.
[[maybe_unused]] static Count user_count(MPI_Count count) noexcept {
  return count > std::numeric_limits<Count>::max() ? MPI_UNDEFINED : static_cast<Count>(count);
}

}  // namespace tmpi::mpi
