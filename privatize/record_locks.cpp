#include "privatize/record_locks.hpp"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/no_signals.hpp"
#include "privatize/loader.hpp"
#include "privatize/offload.hpp"
#include "privatize/rank_callbacks.h"
#include "privatize/rank_pid.hpp"
#include "privatize/sleep_hooks.hpp"

namespace tmpi::privatize {
namespace {

/// What owns a rank's locks on a file: an open file description that nothing else uses. Or, where the file cannot be
/// opened once more, one that it shares with a descriptor of the program.
struct Owner {
  int rank;
  dev_t device;
  ino_t inode;
  int fd;
  bool shared;
};

struct Waiting {
  int rank;
  dev_t device;
  ino_t inode;
  struct flock wanted;
};

/// Held for a few system calls at most, without signals: close() may be called in a handler.
struct Table {
  std::mutex mutex;
  std::vector<Owner> owners;
  std::vector<Waiting> waiting;
};

// Read at every close of a rank. Relaxed: of a rank's own locks it knows.
std::atomic<int> owners_exist{0};

Table& table() noexcept;

// A forked child has none of the rank's locks, and its copies of the descriptors would keep them when the rank has
// ended.
void part_in_child() noexcept {
  for (const Owner& owner : table().owners) close(owner.fd);
  table().owners.clear();
  table().waiting.clear();
  owners_exist.store(0, std::memory_order_relaxed);
  table().mutex.unlock();
}

Table& table() noexcept {
  static Table& one = *[] {
    auto* const made = new Table;  // ranks may be anywhere when the process ends
    pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); }, part_in_child);
    return made;
  }();
  return one;
}

class Section {
 public:
  Section() noexcept : guard_(table().mutex) {}

 private:
  const NoSignals no_signals_;
  const std::lock_guard<std::mutex> guard_;
};

Owner* find_owner(int rank, dev_t device, ino_t inode) noexcept {
  for (Owner& owner : table().owners) {
    if (owner.rank == rank && owner.inode == inode && owner.device == device) return &owner;
  }
  return nullptr;
}

int open_again(int fd, int mode) noexcept {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return ::open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/// Of the file behind `fd`, open in `mode`; with errno -1 in fd.
Owner open_owner(int rank, const struct stat& file, int fd, int mode) noexcept {
  Owner owner{rank, file.st_dev, file.st_ino, -1, false};
  // For locks of both kinds, by whatever descriptor the program will ask.
  owner.fd = S_ISREG(file.st_mode) ? open_again(fd, O_RDWR) : -1;
  if (owner.fd < 0 && S_ISREG(file.st_mode)) owner.fd = open_again(fd, mode);
  if (owner.fd >= 0) return owner;
  owner.shared = true;
  owner.fd = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return owner;
}

/// Under the lock. Null, with errno: none is to be had.
Owner* get_owner(int rank, const struct stat& file, int fd, int mode) noexcept {
  if (Owner* const found = find_owner(rank, file.st_dev, file.st_ino)) return found;
  std::vector<Owner>& owners = table().owners;
  try {
    owners.reserve(owners.size() + 1);
  } catch (const std::bad_alloc&) {
    errno = ENOLCK;
    return nullptr;
  }
  const Owner owner = open_owner(rank, file, fd, mode);
  if (owner.fd < 0) {
    errno = ENOLCK;
    return nullptr;
  }
  owners.push_back(owner);
  owners_exist.fetch_add(1, std::memory_order_relaxed);
  return &owners.back();
}

void close_owner(const Owner& owner) noexcept {
  // By name, since another description, or a child that has been forked, may keep this one open.
  struct flock all {};
  all.l_type = F_UNLCK;
  all.l_whence = SEEK_SET;
  ::fcntl(owner.fd, F_OFD_SETLK, &all);
  ::close(owner.fd);
}

template <class Whose>
void drop(const Whose& whose) noexcept {
  const int error = errno;
  {
    const Section section;
    std::vector<Owner>& owners = table().owners;
    for (std::size_t i = owners.size(); i-- > 0;) {
      if (!whose(owners[i])) continue;
      close_owner(owners[i]);
      owners[i] = owners.back();
      owners.pop_back();
      owners_exist.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  errno = error;
}

// ---- Who holds what ----

using Offset = std::int64_t;
constexpr Offset kEnd = std::numeric_limits<Offset>::max();

struct Range {
  Offset first = 0, last = kEnd;
};

Range range_of(const struct flock& lock) noexcept {
  if (lock.l_len == 0) return {lock.l_start, kEnd};
  if (lock.l_len > 0) return {lock.l_start, lock.l_start + lock.l_len - 1};
  return {lock.l_start + lock.l_len, lock.l_start - 1};
}

/// Whether a lock of a descriptor excludes `wanted`, which counts from the start of file `inode`. From the kernel's list,
/// /proc/PID/fdinfo/FD: "lock: 1: OFDLCK  ADVISORY  WRITE -1 08:01:4711 0 EOF".
bool excludes(const char* list, ino_t inode, const struct flock& wanted) noexcept {
  FILE* const file = fopen(list, "re");
  if (file == nullptr) return false;
  const Range asked = range_of(wanted);
  bool found = false;
  char line[256];
  while (!found && fgets(line, sizeof line, file) != nullptr) {
    char access[16], last[32];
    std::uint64_t number = 0;
    std::int64_t first = 0, end = kEnd;
    if (sscanf(line, "lock: %*d: OFDLCK %*s %15s %*d %*x:%*x:%" SCNu64 " %" SCNd64 " %31s", access, &number,
               &first, last) != 4)
      continue;
    if (sscanf(last, "%" SCNd64, &end) != 1) end = kEnd;
    found = number == inode && (wanted.l_type == F_WRLCK || access[0] == 'W') && first <= asked.last &&
            asked.first <= end;
  }
  fclose(file);
  return found;
}

bool excludes(const Owner& owner, const struct flock& wanted) noexcept {
  char list[48];
  snprintf(list, sizeof list, "/proc/self/fdinfo/%d", owner.fd);
  return excludes(list, owner.inode, wanted);
}

/// Under the lock: whether a rank that stands in the way of `waiting` waits, itself or by others, for `rank`.
bool waits_for(const Waiting& waiting, int rank, int depth) noexcept {
  constexpr int kDeepest = 10;  // as in Linux
  for (const Owner& owner : table().owners) {
    if (owner.rank == waiting.rank || owner.inode != waiting.inode || owner.device != waiting.device)
      continue;
    if (!excludes(owner, waiting.wanted)) continue;
    if (owner.rank == rank && depth > 0) return true;
    if (depth == kDeepest) continue;
    for (const Waiting& next : table().waiting) {
      if (next.rank == owner.rank && waits_for(next, rank, depth + 1)) return true;
    }
  }
  return false;
}

/// `lock` counted from the start of the file: the rank's own offset is not that of the description that owns it.
bool from_start(int fd, struct flock& lock) noexcept {
  Offset origin = 0;
  if (lock.l_whence == SEEK_CUR) {
    origin = ::lseek(fd, 0, SEEK_CUR);
  } else if (lock.l_whence == SEEK_END) {
    struct stat status {};
    origin = ::fstat(fd, &status) == 0 ? status.st_size : -1;
  }
  if (origin < 0) origin = 0;  // what cannot be sought has no offset
  if (__builtin_add_overflow(origin, lock.l_start, &lock.l_start)) {
    errno = EOVERFLOW;
    return false;
  }
  lock.l_whence = SEEK_SET;
  return true;
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

/// A process has a lock that excludes `wanted`, by one of its descriptors.
bool process_excludes(const char* process, ino_t inode, const struct flock& wanted) noexcept {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.16s/fdinfo", process);
  const Directory lists(opendir(path));  // null: another user's
  while (const dirent* entry = lists == nullptr ? nullptr : readdir(lists.get())) {
    char list[96];
    snprintf(list, sizeof list, "/proc/%.16s/fdinfo/%.16s", process, entry->d_name);
    if (excludes(list, inode, wanted)) return true;
  }
  return false;
}

/// Another node process of this machine whose rank has a lock that excludes `wanted`; -1: none is known.
pid_t other_holder(ino_t inode, const struct flock& wanted) noexcept {
  struct stat own {};
  if (stat("/proc/self/exe", &own) != 0) return -1;
  const Directory processes(opendir("/proc"));
  while (const dirent* entry = processes == nullptr ? nullptr : readdir(processes.get())) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.16s/exe", entry->d_name);
    struct stat other {};
    if (stat(path, &other) != 0 || other.st_ino != own.st_ino || other.st_dev != own.st_dev) continue;
    if (process_excludes(entry->d_name, inode, wanted)) return static_cast<pid_t>(atoi(entry->d_name));
  }
  return -1;
}

/// The kernel tells a lock's process only if a process owns it.
void name_holder(int rank, const struct stat& file, struct flock& lock) noexcept {
  if (lock.l_type == F_UNLCK || lock.l_pid != -1) return;
  struct flock any = lock;
  any.l_type = F_WRLCK;
  for (const Owner& owner : table().owners) {
    if (owner.rank == rank || owner.inode != file.st_ino || owner.device != file.st_dev) continue;
    if (!excludes(owner, any)) continue;
    lock.l_pid = pid_of_rank(owner.rank);
    return;
  }
  lock.l_pid = other_holder(file.st_ino, any);
}

// ---- The three commands ----

int ask(int rank, int fd, const struct stat& file, int mode, struct flock* lock) noexcept {
  struct flock question = *lock;
  if (question.l_whence != SEEK_CUR && question.l_whence != SEEK_END && question.l_whence != SEEK_SET) {
    errno = EINVAL;
    return -1;
  }
  if (!from_start(fd, question)) return -1;
  question.l_pid = 0;
  const Section section;
  const Owner* const owner = get_owner(rank, file, fd, mode);
  if (owner == nullptr || ::fcntl(owner->fd, F_OFD_GETLK, &question) != 0) return -1;
  if (question.l_type == F_UNLCK) {
    lock->l_type = F_UNLCK;
    return 0;
  }
  name_holder(rank, file, question);
  *lock = question;
  return 0;
}

bool is_busy(int error) noexcept {
  return error == EAGAIN || error == EACCES;
}

/// Without waiting. With EAGAIN `*owner_fd` is the descriptor by which to wait.
int try_lock(int rank, int fd, const struct stat& file, int mode, struct flock& wanted,
             int* owner_fd) noexcept {
  const Section section;
  if (wanted.l_type == F_UNLCK && find_owner(rank, file.st_dev, file.st_ino) == nullptr) return 0;
  const Owner* const owner = get_owner(rank, file, fd, mode);
  if (owner == nullptr) return -1;
  *owner_fd = owner->fd;
  const int result = ::fcntl(owner->fd, F_OFD_SETLK, &wanted);
  // The description could only be opened for the other kind of lock.
  if (result != 0 && errno == EBADF) errno = ENOLCK;
  return result;
}

/// False: it would be for ever, since who holds the lock waits for this rank.
bool begin_waiting(const Waiting& waiting) noexcept {
  const Section section;
  if (waits_for(waiting, waiting.rank, 0)) return false;
  try {
    table().waiting.push_back(waiting);
  } catch (const std::bad_alloc&) {  // then nobody finds out
  }
  return true;
}

void end_waiting(int rank) noexcept {
  const Section section;
  std::erase_if(table().waiting, [rank](const Waiting& one) { return one.rank == rank; });
}

/// SUSPENDS, if others can run meanwhile.
int wait_for_lock(const Waiting& waiting, int owner_fd) noexcept {
  if (!begin_waiting(waiting)) {
    set_own_errno(EDEADLK);
    return -1;
  }
  struct flock wanted = waiting.wanted;
  const auto call = [owner_fd, &wanted] { return ::fcntl(owner_fd, F_OFD_SETLKW, &wanted); };
  const int result = static_cast<int>(may_pass_to_pool() ? offload("fcntl", true, call) : call());
  const int error = own_errno();
  end_waiting(waiting.rank);
  set_own_errno(error);
  return result;
}

}  // namespace

int lock_records(int rank, int fd, int command, struct flock* lock) noexcept {
  struct stat file {};
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fstat(fd, &file) != 0) return -1;
  const int mode = flags & O_ACCMODE;
  if (lock == nullptr || (flags & O_PATH) != 0) {
    errno = lock == nullptr ? EFAULT : EBADF;
    return -1;
  }
  if (command == F_GETLK) return ask(rank, fd, file, mode, lock);
  if ((lock->l_type == F_RDLCK && mode == O_WRONLY) || (lock->l_type == F_WRLCK && mode == O_RDONLY)) {
    errno = EBADF;
    return -1;
  }
  struct flock wanted = *lock;
  wanted.l_pid = 0;
  if (!from_start(fd, wanted)) return -1;
  const int error = errno;
  int owner_fd = -1;
  if (try_lock(rank, fd, file, mode, wanted, &owner_fd) == 0) {
    errno = error;
    return 0;
  }
  if (command != F_SETLKW || !is_busy(errno)) return -1;
  errno = error;
  return wait_for_lock({rank, file.st_dev, file.st_ino, wanted}, owner_fd);
}

void drop_record_locks(int rank, int fd) noexcept {
  if (owners_exist.load(std::memory_order_relaxed) == 0) return;
  const int error = errno;
  struct stat file {};
  if (::fstat(fd, &file) == 0) {
    drop([&](const Owner& owner) {
      return owner.rank == rank && owner.inode == file.st_ino && owner.device == file.st_dev;
    });
  }
  errno = error;
}

void drop_all_record_locks(int rank) noexcept {
  if (owners_exist.load(std::memory_order_relaxed) == 0) return;
  drop([rank](const Owner& owner) { return owner.rank == rank; });
}

bool is_lock_descriptor(int fd) noexcept {
  if (owners_exist.load(std::memory_order_relaxed) == 0) return false;
  const Section section;
  return std::ranges::any_of(table().owners, [fd](const Owner& owner) { return owner.fd == fd; });
}

}  // namespace tmpi::privatize

extern "C" __attribute__((visibility("default"))) void tmpi_rank_closes(int rank, int fd) {
  tmpi::privatize::drop_record_locks(rank, fd);
}
