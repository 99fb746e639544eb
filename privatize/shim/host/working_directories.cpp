// Where ranks are (privatize/rank_directory.hpp): a descriptor for each place that one of them has chosen.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

#include "privatize/rank_directory.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/switch_duties.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::privatize {

constinit thread_local bool thread_has_directory = false;

}  // namespace tmpi::privatize

namespace tmpi::shim {
namespace {

/// A place that ranks have chosen. Never freed, used again when nobody is there.
struct Directory {
  int fd = -1;
  dev_t device = 0;
  ino_t inode = 0;
  int users = 0;              // ranks; 0: idle
  std::uint64_t version = 0;  // of its use: never twice the same
  Directory* next = nullptr;
};

std::mutex mutex;  // guards directories and users
Directory* directories;
std::uint64_t versions;
int start = -1;  // where the job was started; constant once somebody has left it

// Null: where the job was started. Written by the rank; release, acquire: its descriptor is there.
privatize::RankTable<std::atomic<Directory*>> table;

// Of the place in which the calling thread is; 0: where the job was started.
__attribute__((tls_model("initial-exec"))) constinit thread_local std::uint64_t thread_version = 0;

// What a rank has said by umask, and one more; 0: nothing. relaxed: read where the rank runs, or by a thread it has made.
privatize::RankTable<std::atomic<unsigned>> masks;
std::atomic<unsigned> start_mask{0};  // likewise: of the process, once somebody has said something
__attribute__((tls_model("initial-exec"))) constinit thread_local unsigned thread_mask =
    0;                              // 0: of the process
constexpr unsigned kAnyMask = ~0U;  // it is not known

Directory* directory_of(int rank) noexcept {
  std::atomic<Directory*>* const slot = table.find(rank);
  return slot == nullptr ? nullptr : slot->load(std::memory_order_acquire);
}

/// Under the mutex. The entry for the place behind `fd`, which it keeps or closes; null: no memory.
Directory* place_of(int fd) noexcept {
  struct stat status {};
  if (fstat(fd, &status) != 0) return nullptr;
  Directory* idle = nullptr;
  for (Directory* one = directories; one != nullptr; one = one->next) {
    if (one->users == 0) {
      idle = one;
    } else if (one->device == status.st_dev && one->inode == status.st_ino) {
      close(fd);
      return one;
    }
  }
  if (idle == nullptr) {
    idle = new (std::nothrow) Directory;
    if (idle == nullptr) return nullptr;
    idle->next = directories;
    directories = idle;
  }
  idle->fd = fd;
  idle->device = status.st_dev;
  idle->inode = status.st_ino;
  idle->version = ++versions;
  return idle;
}

/// Under the mutex.
void move(int rank, Directory* to) noexcept {
  std::atomic<Directory*>& slot = *table.get(rank);
  Directory* const from = slot.load(std::memory_order_relaxed);
  if (to != nullptr) ++to->users;
  slot.store(to, std::memory_order_release);
  if (from == nullptr || --from->users > 0) return;
  close(from->fd);
  from->fd = -1;
}

/// The calling thread gets a directory of its own.
bool part_from_process() noexcept {
  if (of_thread(privatize::thread_has_directory)) return true;
  {
    const std::lock_guard guard(mutex);
    if (start < 0) start = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (start < 0) return false;
  }
  if (unshare(CLONE_FS) != 0) return false;
  of_thread(privatize::thread_has_directory) = true;
  privatize::demand(privatize::kEnterDirectory);
  return true;
}

/// The calling thread has moved: from now on the rank is where the thread is.
int stay_here(int rank) noexcept {
  const int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  if (directory_of(rank) == nullptr) privatize::stay_on_thread(rank);
  const std::lock_guard guard(mutex);
  Directory* const here = table.get(rank) == nullptr ? nullptr : place_of(fd);
  if (here == nullptr) {
    close(fd);
    errno = ENOMEM;
    return -1;
  }
  move(rank, here);
  of_thread(thread_version) = here->version;
  return 0;
}

}  // namespace

}  // namespace tmpi::shim

namespace tmpi::privatize {

using namespace tmpi::shim;

void enter_directory(int rank) noexcept {
  if (rank < 0) return;
  const Directory* const directory = directory_of(rank);
  const std::uint64_t version = directory == nullptr ? 0 : directory->version;
  if (version == of_thread(thread_version)) return;
  const int error = errno;
  // It cannot fail: the descriptor is open, and who could enter the place once may enter it again.
  if (fchdir(directory == nullptr ? start : directory->fd) == 0) of_thread(thread_version) = version;
  errno = error;
}

void enter_umask(int rank) noexcept {
  if (rank < 0) return;
  const std::atomic<unsigned>* const said = masks.find(rank);
  unsigned wanted = said == nullptr ? 0 : said->load(std::memory_order_relaxed);
  if (wanted == 0) wanted = start_mask.load(std::memory_order_relaxed);
  const int error = errno;
  // A thread that has none of its own yet has the process's, and so it stays.
  if (wanted != (of_thread(thread_mask) != 0 ? of_thread(thread_mask)
                                             : start_mask.load(std::memory_order_relaxed)) &&
      part_from_process()) {
    umask(wanted - 1);
    of_thread(thread_mask) = wanted;
  }
  errno = error;
}

bool choose_directory(int rank, const char* path) noexcept {
  return tmpi_shim_chdir(rank, path, -1) >= 0;
}

void keep_directory(int rank, bool with_worker) noexcept {
  if (!with_worker || !part_from_process()) return;
  of_thread(thread_version) = UINT64_MAX;  // wherever the worker is meanwhile
  enter_directory(rank);
  if (start_mask.load(std::memory_order_relaxed) == 0) return;
  of_thread(thread_mask) = kAnyMask;
  enter_umask(rank);
}

void forget_directory(int rank) noexcept {
  if (std::atomic<unsigned>* const said = masks.find(rank)) said->store(0, std::memory_order_relaxed);
  if (directory_of(rank) == nullptr) return;
  const std::lock_guard guard(mutex);
  move(rank, nullptr);
}

}  // namespace tmpi::privatize

using namespace tmpi::shim;

extern "C" int tmpi_shim_chdir(int rank, const char* path, int fd) {
  const bool apart = part_from_process();
  const int why = errno;
  if ((path != nullptr ? chdir(path) : fchdir(fd)) != 0) return -1;
  if (!apart) {
    errno = why;
    return 1;
  }
  if (stay_here(rank) == 0) return 0;
  const int error = errno;
  tmpi::of_thread(thread_version) = UINT64_MAX;
  tmpi::privatize::enter_directory(rank);
  errno = error;
  return -1;
}

extern "C" mode_t tmpi_shim_umask(int rank, mode_t mask) {
  std::atomic<unsigned>* const said = masks.get(rank);
  if (said == nullptr || !part_from_process()) return umask(mask);  // then it is all threads'
  const mode_t before = umask(mask);
  unsigned unknown = 0;
  start_mask.compare_exchange_strong(unknown, before + 1, std::memory_order_relaxed);
  said->store((mask & 0777) + 1, std::memory_order_relaxed);
  tmpi::of_thread(thread_mask) = (mask & 0777) + 1;
  tmpi::privatize::demand(tmpi::privatize::kEnterUmask);
  return before;
}
