// Shape: where in the arguments of an MPI function bytes, peer, tag and communicator are found. The table of
// all functions is generated (tools/generate_recorded_functions.py).
#pragma once

#include <cstdint>

namespace tmpi::observe {

/// What "the bytes of a call" are: the data that the calling rank hands over, or, of a call that only
/// receives, the data that has come. docs/reference/profiling.md.
enum class Bytes : std::uint8_t {
  kNone,          ///< moves no data of its own
  kBuffer,        ///< count elements of type
  kElement,       ///< one element of type
  kReceived,      ///< what the status says
  kRead,          ///< the same, of a file
  kStarted,       ///< a persistent operation: its request's buffer
  kStartedAll,    ///< count of them
  kContribution,  ///< the send buffer; with MPI_IN_PLACE the rank's own part of the receive buffer
  kToEach,        ///< the send buffer: the sum of the parts for all members
  kToNeighbours,  ///< the same for the neighbours of a topology
  kScattered,     ///< at the root the parts of all members, elsewhere the part received
  kReduced,       ///< the whole vector that is reduced: the sum of the parts
};

/// Indices of arguments; kAbsent where the function has none or its rule needs none.
struct Shape {
  static constexpr std::int8_t kAbsent = -1;
  Bytes bytes = Bytes::kNone;
  std::int8_t count = kAbsent;
  std::int8_t type = kAbsent;
  std::int8_t receive_count = kAbsent;
  std::int8_t receive_type = kAbsent;
  std::int8_t send_buffer = kAbsent;
  std::int8_t peer = kAbsent;
  std::int8_t tag = kAbsent;
  std::int8_t root = kAbsent;
  std::int8_t comm = kAbsent;
  std::int8_t status = kAbsent;
  std::int8_t request = kAbsent;
  bool counts = false;          ///< `count` is an array
  bool receive_counts = false;  ///< `receive_count` is
  bool types = false;           ///< `type` and `receive_type` are
  bool large = false;           ///< the arrays of counts are of MPI_Count

  constexpr bool operator==(const Shape&) const = default;
};

}  // namespace tmpi::observe
