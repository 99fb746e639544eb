// The process id that a rank sees as its own (--pid rank): above every id that the kernel gives, and made from that of
// the node process and the rank's number, so that whoever has it finds both: a node process, tmpirun, tmpi-gdb.
//
//     id = 2^22 + 511 × ((node process + 40961 × (rank / 511)) mod 2^22) + rank mod 511
//
// Neighbouring ranks have neighbouring ids, as processes that are started together. Ranks of two node processes of a
// machine cannot have the same one below 511 ranks in the job, and hardly beyond: 40961 is odd and large.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tmpi {

/// The kernel's ids are below (PID_MAX_LIMIT of 64-bit machines), whatever /proc/sys/kernel/pid_max says.
inline constexpr std::int64_t kKernelPids = std::int64_t{1} << 22;
inline constexpr std::int64_t kRanksPerPid = 511;  // as many as leave ids within an int
inline constexpr std::int64_t kPidStride = 40961;
inline constexpr std::int64_t kMostPidBlocks = 2048;  // a million ranks

constexpr bool is_rank_pid(pid_t id) noexcept {
  return id >= kKernelPids;
}

/// The id of world rank `rank` in the node process `process`.
constexpr pid_t rank_pid(int rank, pid_t process) noexcept {
  const std::int64_t block = (process + kPidStride * (rank / kRanksPerPid)) % kKernelPids;
  return static_cast<pid_t>(kKernelPids + kRanksPerPid * block + rank % kRanksPerPid);
}

/// A rank and its node process.
struct RankInProcess {
  pid_t process;
  int rank;
};

/// What a rank's id may stand for: with `turn` 0, and, in jobs of more than 511 × `turn` ranks, with each further one.
constexpr RankInProcess rank_behind(pid_t id, std::int64_t turn) noexcept {
  const std::int64_t block = (id - kKernelPids) / kRanksPerPid;
  const std::int64_t process = (block - kPidStride * turn) & (kKernelPids - 1);
  return {static_cast<pid_t>(process),
          static_cast<int>(kRanksPerPid * turn + (id - kKernelPids) % kRanksPerPid)};
}

/// The world rank that has this id if it is in `process`; -1: no rank there can have it.
constexpr int rank_with_pid(pid_t id, pid_t process) noexcept {
  if (!is_rank_pid(id)) return -1;
  for (std::int64_t turn = 0; turn < kMostPidBlocks; ++turn) {
    const RankInProcess one = rank_behind(id, turn);
    if (one.process == process) return one.rank;
  }
  return -1;
}

}  // namespace tmpi
