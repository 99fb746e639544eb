// CallClass: how the time of an MPI function depends on who makes progress. The four classes of Denis et al.
// (CCGrid'22, section III-C), completions in two.
#pragma once

#include <cstdint>
#include <string_view>

namespace tmpi::observe {

enum class CallClass : std::uint8_t {
  kBlocking,     ///< communicates, and returns when that is done: MPI_Send, MPI_Allreduce
  kNonblocking,  ///< initiates: MPI_Isend, MPI_Iallreduce, MPI_Start
  kTest,         ///< completes, if it can
  kWait,         ///< completes
  kOther,        ///< communicators, datatypes, environment, and what is not known
};

/// Of "MPI_Send", with or without the suffix of large counts.
CallClass class_of(std::string_view function) noexcept;

}  // namespace tmpi::observe
