#include "privatize/descriptor_numbers.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "privatize/rank_slots.hpp"

namespace tmpi::privatize {

bool can_be_opened_again(const struct stat& status) noexcept {
  constexpr unsigned kMemory = 1;                               // major number of these devices
  constexpr std::array<unsigned, 5> kStateless{3, 5, 7, 8, 9};  // null, zero, full, random, urandom
  if (S_ISREG(status.st_mode)) return true;
  return S_ISCHR(status.st_mode) && major(status.st_rdev) == kMemory &&
         std::ranges::find(kStateless, minor(status.st_rdev)) != kStateless.end();
}

bool is_own_number(int fd, int rank) noexcept {
  const RankSlots* const slots = RankSlots::get();
  return slots != nullptr && fd >= kFirstOwnNumber && (fd - kFirstOwnNumber) % slots->ranks() == rank;
}

int at_own_number(int fd, int rank) noexcept {
  if (RankSlots::get() == nullptr || is_own_number(fd, rank)) return fd;
  const int flags = fcntl(fd, F_GETFD);
  const int duplicate = (flags & FD_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD;
  for (int number = kFirstOwnNumber + rank; flags >= 0; number += RankSlots::get()->ranks()) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    const int made = fcntl(fd, duplicate, number);
    if (made < 0) break;
    close(made == number ? fd : made);  // another thread of the rank may have been first
    if (made == number) return made;
  }
  return fd;
}

}  // namespace tmpi::privatize
