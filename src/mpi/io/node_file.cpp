#include "mpi/io/node_file.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <utility>

#include "sched/sleep.hpp"
#include "sched/task.hpp"

namespace tmpi::mpi {
namespace {

bool is_in_memory(int fd) noexcept {
  struct statfs status {};
  if (fstatfs(fd, &status) != 0) return false;
  return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

}  // namespace

NodeFile::NodeFile(int fd, std::string path, const struct stat& status, bool readable, bool writable)
    : fd_(fd),
      path_(std::move(path)),
      readable_(readable),
      writable_(writable),
      in_memory_(is_in_memory(fd)),
      locks_(RangeLocks::of(status)) {}

NodeFile::~NodeFile() {
  close(fd_);
}

bool NodeFile::quick() noexcept {
  const int left = slow_.load(std::memory_order_relaxed);
  if (left == 0) return true;
  slow_.store(left - 1, std::memory_order_relaxed);
  return false;
}

// What a nonblocking operation does, on a helper fiber, goes on beside its rank in any case.
bool NodeFile::stays(MPI_Count bytes) const noexcept {
  if (sched::current()->helper) return false;
  return (in_memory_ && bytes != kSlow) || !sched::has_company();
}

}  // namespace tmpi::mpi
