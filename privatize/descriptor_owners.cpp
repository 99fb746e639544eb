#include "privatize/descriptor_owners.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "privatize/descriptor_numbers.hpp"
#include "privatize/rank_slots.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {
namespace {

constexpr int kUnknown = 0;
constexpr int kRuntime = 1;
constexpr int kFirstRank = 2;  // owner of rank 0

/// Who has made a descriptor, and of which file it was: the number may lead elsewhere meanwhile, where somebody has
/// closed and opened it unnoticed. Whoever uses a number while another changes it is wrong anyway, so that relaxed does.
struct Mark {
  std::atomic<int> owner{kUnknown};
  std::atomic<std::uint64_t> device{0}, inode{0};
};
RankTable<Mark, 1024> marks;  // by descriptor
std::atomic<int> last{2};

class KeptErrno {
 public:
  KeptErrno() noexcept : error_(errno) {}
  ~KeptErrno() { errno = error_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  const int error_;
};

void mark(int fd, int owner) noexcept {
  struct stat status {};
  Mark* const slot = fd > 2 && fstat(fd, &status) == 0 ? marks.get(fd) : nullptr;
  if (slot == nullptr) return;
  slot->device.store(status.st_dev, std::memory_order_relaxed);
  slot->inode.store(status.st_ino, std::memory_order_relaxed);
  slot->owner.store(owner, std::memory_order_relaxed);
  int seen = last.load(std::memory_order_relaxed);
  while (seen < fd && !last.compare_exchange_weak(seen, fd, std::memory_order_relaxed)) continue;
}

int owner_of(int fd) noexcept {
  const Mark* const slot = fd > 2 ? marks.find(fd) : nullptr;
  const int owner = slot == nullptr ? kUnknown : slot->owner.load(std::memory_order_relaxed);
  struct stat status {};
  const bool same = owner != kUnknown && fstat(fd, &status) == 0 &&
                    slot->device.load(std::memory_order_relaxed) == status.st_dev &&
                    slot->inode.load(std::memory_order_relaxed) == status.st_ino;
  return same ? owner : kUnknown;
}

int own_number() noexcept {
  return thread_context().rank + kFirstRank;
}

}  // namespace

void keep_open_descriptors() noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder.get())) {
    const int fd = atoi(entry->d_name);
    if (fd != dirfd(folder.get())) mark(fd, kRuntime);
  }
}

int own_descriptor(int fd) noexcept {
  struct stat status {};
  const KeptErrno kept;
  const bool along =
      RankSlots::get() != nullptr && fd > 2 && fstat(fd, &status) == 0 && can_be_opened_again(status);
  return along ? own_descriptor_taken_along(fd) : own_descriptor_here(fd);
}

int own_descriptor_here(int fd) noexcept {
  const KeptErrno kept;
  if (fd >= 0 && thread_context().rank >= 0) mark(fd, own_number());
  return fd;
}

int own_descriptor_taken_along(int fd) noexcept {
  const KeptErrno kept;
  const int rank = thread_context().rank;
  return own_descriptor_here(fd >= 0 && rank >= 0 ? at_own_number(fd, rank) : fd);
}

bool may_close(int fd) noexcept {
  if (thread_context().rank < 0) return true;
  const KeptErrno kept;
  const int owner = owner_of(fd);
  if (owner != kUnknown) return owner == own_number();
  const int flags = fcntl(fd, F_GETFD);
  return flags < 0 || (flags & FD_CLOEXEC) == 0;
}

bool is_own_descriptor(int fd) noexcept {
  const KeptErrno kept;
  const Mark* const slot = thread_context().rank >= 0 && fd > 2 ? marks.find(fd) : nullptr;
  return slot != nullptr && slot->owner.load(std::memory_order_relaxed) == own_number() &&
         owner_of(fd) == own_number();
}

int last_descriptor() noexcept {
  return last.load(std::memory_order_relaxed);
}

void close_descriptors_of_others() noexcept {
  const KeptErrno kept;
  for (int fd = 3; fd <= last_descriptor(); ++fd) {
    const int owner = owner_of(fd);
    if (owner >= kFirstRank && owner != own_number()) close(fd);
  }
}

}  // namespace tmpi::privatize
