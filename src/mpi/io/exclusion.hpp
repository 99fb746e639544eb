// Exclusion: others are kept away from bytes of a file: flows of control of this node process by RangeLocks, other
// node processes by locks of the file itself. docs/design/files.md, "Locks".
#pragma once

#include <limits>
#include <optional>

#include "mpi/io/hints.hpp"
#include "mpi/io/node_file.hpp"

namespace tmpi::mpi {

inline constexpr MPI_Offset kToTheEnd = std::numeric_limits<MPI_Offset>::max();

/// Every write keeps those away that write back more than their own bytes, so that somebody may do that. In a job of
/// one node process locks in memory do it; among several a hint has to say so, since each write locks the file then.
bool writes_lock(const Hints& hints) noexcept;

/// Data sieving of writes is allowed.
inline bool may_sieve_writes(const Hints& hints) noexcept {
  return hints.ds_write != Choice::kDisable && writes_lock(hints);
}

class Exclusion {
 public:
  /// Of bytes [begin, end), if it is `wanted`. `writes`: the lock of the file is one for writing. SUSPENDS.
  Exclusion(NodeFile& file, bool wanted, MPI_Offset begin, MPI_Offset end, RangeLocks::Mode mode,
            bool writes);
  /// The errno if the file could not be locked.
  int error() const noexcept { return there_ ? there_->error : 0; }

 private:
  struct FileLock {
    FileLock(NodeFile& locked, MPI_Offset from, MPI_Offset to, bool writes);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    NodeFile& file;
    const MPI_Offset begin, end;
    int error = 0;
  };
  std::optional<RangeLocks::Held> here_;
  std::optional<FileLock> there_;
};

}  // namespace tmpi::mpi
