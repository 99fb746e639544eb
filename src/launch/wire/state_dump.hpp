// StateDump: where every rank is at one moment, for SIGUSR1, --timeout and the deadlock report. Node processes
// send it run-length encoded (neighbours in the same place are one record); tmpirun groups alike ranks and
// words it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tmpi::launch {

enum class RankState : std::uint16_t {
  kStarting = 0,
  kRunning = 1,
  kReady = 2,
  kBlocked = 3,
  kFinished = 4,
  kPolling = 5
};

/// Where one rank is.
struct RankPlace {
  RankState state = RankState::kStarting;
  std::string call;    ///< the MPI call it is in (kRunning: a system call), empty if unknown or in none
  std::string detail;  ///< "from rank {} with tag 7 on MPI_COMM_WORLD": {} stands for `peer`; may be empty
  int peer = -1;       ///< -1: detail names none
};

/// Neighbouring ranks in the same place.
struct StateDumpEntry {
  int first = 0;
  int count = 1;
  bool follow = false;  ///< each rank's peer is one more than its neighbour's; else all have the same
  RankPlace place;      ///< of the first
};

/// Neighbours in the same place are one entry.
using StateDump = std::vector<StateDumpEntry>;

/// Adds one rank; joined with the previous entry when it is its neighbour in the same place.
void add_rank(StateDump& dump, int rank, RankPlace place);

/// State dumps of several node processes put together: in the order of ranks, neighbours joined.
StateDump in_order(StateDump dump);

/// Payload of a kStateDump frame and back; a malformed payload gives what could be read.
std::string pack(const StateDump& dump);
StateDump unpack_state_dump(std::string_view payload);

/// One line per group of alike ranks: "  ranks 0-62 (63): blocked in MPI_Recv from rank 63 with tag 7 on
/// MPI_COMM_WORLD".
std::string describe(const StateDump& dump);

}  // namespace tmpi::launch
