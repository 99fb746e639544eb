#include "mpi/io/exclusion.hpp"

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

bool several_node_processes() noexcept {
  return job()->nodes() > 1;
}

}  // namespace

bool writes_lock(const Hints& hints) noexcept {
  return !several_node_processes() || hints.ds_write == Choice::kEnable;
}

Exclusion::FileLock::FileLock(NodeFile& locked, MPI_Offset from, MPI_Offset to, bool writes)
    : file(locked), begin(from), end(to == kToTheEnd ? 0 : to) {
  file.run(NodeFile::kSlow, [&] { error = lock_bytes(file.fd(), begin, end, writes); });
}

Exclusion::FileLock::~FileLock() {
  if (error == 0) unlock_bytes(file.fd(), begin, end);
}

// Locks of a descriptor do not count who of its process holds them: there one at a time.
Exclusion::Exclusion(NodeFile& file, bool wanted, MPI_Offset begin, MPI_Offset end, RangeLocks::Mode mode,
                     bool writes) {
  if (!wanted) return;
  const bool several = several_node_processes();
  here_.emplace(file.locks(), begin, end, several ? RangeLocks::Mode::kExclusive : mode);
  if (several) there_.emplace(file, begin, end, writes);
}

}  // namespace tmpi::mpi
