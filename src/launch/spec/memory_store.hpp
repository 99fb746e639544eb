// Checkpoints in the memory of the hosts that a job runs on (--survive): files of a file system there. Each node process has
// a part of its own, with the files of its ranks and copies of other node processes' (mpi/save/copies.hpp):
//
//     /dev/shm/tmpi-UID-STORE/node-N/NUMBER/rank-R
//
// STORE: of the job, however often its ranks go on with other node processes. NUMBER: of the checkpoint, larger than those
// before it. All is the user's alone, and goes when the job ends; of node processes that were killed, when another one begins here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace tmpi::launch {

class MemoryStore {
 public:
  /// The part of node process `node`. Failure: this host has no such file system, or somebody else is in the way. Removes
  /// what jobs have left that have not come to their end.
  static Result<MemoryStore> open(std::uint64_t store, int node);

  /// Room for the files of checkpoint `number`. Failure: a sentence.
  Result<void> begin(std::uint64_t number) const;
  /// Keeps no other on this host if it is `complete`, in all node processes; else it is removed itself.
  void end(std::uint64_t number, bool complete) const;
  /// Where the file of a rank lies in this part, or is to.
  std::string file(std::uint64_t number, int rank) const;

  /// Where it lies in any part on this host; empty: nowhere.
  std::string find(std::uint64_t number, int rank) const;
  /// The checkpoints of which there are files on this host, the latest first.
  std::vector<std::uint64_t> numbers() const;

  /// All of it on this host.
  static void remove(std::uint64_t store) noexcept;

 private:
  MemoryStore(std::string root, int node, Fd alive);
  std::vector<std::string> parts() const;

  std::string root_, part_;
  Fd alive_;  // the folder, locked: it is in use
};

}  // namespace tmpi::launch
