// --record and --replay: the interface of the room for src/launch. Ranks' calls of the functions whose outcome their program
// does not determine are bound to versions that keep a RankLog for each rank. docs/design/replay.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::replay {

struct ReplayOptions {
  std::string record;         ///< file to write, empty: none
  std::string replay;         ///< file to repeat, empty: none
  std::string explored_file;  ///< of a run that --explore looks at: its explored logs, empty: none
  int node = 0;               ///< number of this node process

  bool any() const { return !record.empty() || !replay.empty() || !explored_file.empty(); }
};

/// Opens the files, so that a bad one is known before the job runs. Once; the ranks are known, none has run.
Result<void> begin(const ReplayOptions& options);

/// What a program's reference to `name` ("MPI_Recv", "PMPI_Recv", "clock_gettime") is bound to; null if its outcome is
/// determined, or if nothing is recorded or repeated.
const void* version_of(const char* name) noexcept;

/// The functions of libc behind those of version_of(): what a rank would be bound to otherwise. Before any rank runs.
void call_for_times(const void* (*function_of)(const char* name)) noexcept;

/// What there is to say at the end of the job, as sentences. `early`: the ranks may still be running. Any thread.
std::vector<std::string> finish(bool early);

}  // namespace tmpi::replay
