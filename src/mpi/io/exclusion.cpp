#include "mpi/io/exclusion.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

// Between two attempts to lock, in ns: a small write, and a moment that a thread of the pool can be spared for.
constexpr long kShortestWait = 20'000;
constexpr long kLongestWait = 1'000'000;

bool several_node_processes() noexcept {
  return job()->nodes() > 1;
}

}  // namespace

bool writes_lock(const Hints& hints) noexcept {
  return !several_node_processes() || hints.ds_write == Choice::kEnable;
}

// Who has the lock needs a thread of the pool to write, and so perhaps one of those that wait here: so none of them
// waits in the kernel until it has the lock, which takes as long as others like.
Exclusion::FileLock::FileLock(NodeFile& locked, MPI_Offset from, MPI_Offset to, bool writes)
    : file(locked), begin(from), end(to == kToTheEnd ? 0 : to) {
  long wait = 0;
  do {
    file.run([&] {
      const timespec time{0, wait};
      if (wait > 0) nanosleep(&time, nullptr);
      error = try_lock_bytes(file.fd(), begin, end, writes);
    });
    wait = std::clamp(2 * wait, kShortestWait, kLongestWait);
  } while (error == EAGAIN);
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
