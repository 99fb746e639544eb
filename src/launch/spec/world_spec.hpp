// What crosses the control channel when ranks are spawned (docs/design/dynamic-processes.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

/// One program of a spawned world. Empty: not given.
struct WorldApp {
  int ranks = 0;
  std::string command;                 ///< as the program says it
  std::vector<std::string> arguments;  ///< without argv[0]
  std::string wdir;
  std::string path;  ///< directories to look for the command in, separated by colons
  std::string host;  ///< names, separated by commas
};

/// node process -> tmpirun.
struct SpawnRequest {
  std::int64_t request = 0;  ///< the node process's number for it
  std::vector<WorldApp> apps;
  std::string link;  ///< the MPI library's (mpi/rank/spawned.hpp)
};

/// tmpirun -> all node processes.
struct WorldSpec {
  int number = 0;            ///< of the world in the job
  int first = 0;             ///< the job's number of its rank 0
  std::vector<int> node_of;  ///< by rank
  SpawnRequest wanted;
  int root = 0;  ///< the rank that has asked

  int total_ranks() const { return static_cast<int>(node_of.size()); }
  /// Index of the program that rank `rank` of the world runs.
  int app_of(int rank) const;
};

/// Index of the command, -1: all; and why it cannot be started, a sentence.
using WorldProblems = std::vector<std::pair<int, std::string>>;

/// node process -> tmpirun; without problems its part is ready.
struct WorldReady {
  int number = 0;
  WorldProblems problems;
  /// Others can find the ranks that live here (mpi::Job::publish()), whose numbers stay taken even if none is started.
  bool has_ranks = false;
};

/// tmpirun -> all node processes: with problems nothing is started.
struct WorldStart {
  int number = 0;
  int first = -1;
  int root = 0;
  std::int64_t request = 0;
  WorldProblems problems;
};

std::string pack(const SpawnRequest& request);
std::string pack(const WorldSpec& spec);
std::string pack(const WorldReady& ready);
std::string pack(const WorldStart& start);
/// Failure: cut short.
Result<SpawnRequest> unpack_spawn_request(std::string_view payload);
Result<WorldSpec> unpack_world_spec(std::string_view payload);
Result<WorldReady> unpack_world_ready(std::string_view payload);
Result<WorldStart> unpack_world_start(std::string_view payload);

}  // namespace tmpi::launch
