#include "mpi/io/node_file.hpp"

#include <linux/magic.h>  // BTRFS_SUPER_MAGIC ...
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "mpi/io/limits.hpp"
#include "sched/file_calls.hpp"
#include "sched/sleep.hpp"
#include "sched/task.hpp"

namespace tmpi::mpi {
namespace {

long file_system(int fd) noexcept {
  struct statfs status {};
  return fstatfs(fd, &status) == 0 ? static_cast<long>(status.f_type) : 0;
}

bool is_in_memory(int fd) noexcept {
  const long type = file_system(fd);
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

// Writes to a file take its lock: several threads would wait for each other, and spin.
bool has_one_writer(int fd) noexcept {
  const long type = file_system(fd);
  return type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC || type == BTRFS_SUPER_MAGIC;
}

}  // namespace

NodeFile::NodeFile(int fd, std::string path, const struct stat& status, bool readable, bool writable)
    : fd_(fd),
      path_(std::move(path)),
      readable_(readable),
      writable_(writable),
      in_memory_(is_in_memory(fd)),
      one_writer_(has_one_writer(fd)),
      locks_(RangeLocks::of(status)) {}

Striping NodeFile::striping() {
  Striping found;
  if (can_stripe(file_system(fd_))) run([&] { found = striping_of(fd_); });
  return found;
}

NodeFile::~NodeFile() {
  close(fd_);
}

NodeFile::Where NodeFile::place_for(MPI_Count bytes) noexcept {
  if (const MPI_Count limit = sched::file_limit(); limit >= 0)  // as the user has it
    return bytes >= limit ? Where::kElsewhere : Where::kHere;
  if (bytes <= kSmallFileCall && quick()) return Where::kMeasured;
  return stays() || (in_memory_ && !beside()) ? Where::kHere : Where::kElsewhere;
}

bool NodeFile::quick() noexcept {
  const int left = slow_.load(std::memory_order_relaxed);
  if (left == 0) return true;
  slow_.store(left - 1, std::memory_order_relaxed);
  return false;
}

bool NodeFile::beside() noexcept {
  return sched::current()->kind == sched::TaskKind::kHelper;
}

bool NodeFile::stays() noexcept {
  return !beside() && !sched::has_company();
}

IoResult NodeFile::read(std::span<const Piece> pieces, MPI_Count bytes) {
  IoResult result;
  const Where where = place_for(bytes);
  if (where == Where::kMeasured) {
    measured([&] { result = read_pieces(fd_, pieces); });
  } else if (where == Where::kHere) {
    result = read_pieces(fd_, pieces);
  } else {
    if (beside() || sched::file_limit() >= 0) {
      result.error = EAGAIN;
    } else {
      result = read_cached(fd_, pieces);
    }
    if (result.error == EAGAIN && in_few_calls(pieces) && sched::has_file_ring()) {
      result = read_beside(fd_, pieces, result);
    } else if (result.error == EAGAIN) {
      sched::offload([&] { result = read_rest(fd_, pieces, result); });
    }
  }
  return result;
}

IoResult NodeFile::write(std::span<const Piece> pieces, MPI_Count bytes) {
  IoResult result;
  const auto here = [&] { result = write_pieces(fd_, pieces); };
  write(bytes, here, [&](sched::Strand* writers) {
    if (writers == nullptr && in_few_calls(pieces) && sched::has_file_ring()) {
      result = write_beside(fd_, pieces);
    } else {
      sched::offload(here, writers);
    }
  });
  return result;
}

int NodeFile::sync() {
  if (stays()) return fsync(fd_) != 0 ? errno : 0;
  return sync_beside(fd_);
}

}  // namespace tmpi::mpi
