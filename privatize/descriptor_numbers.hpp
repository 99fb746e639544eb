// Numbers of descriptors that a rank can take along. The kernel gives the lowest that is free in the node process; a rank
// that is revived among others needs one that none of them has. So in a job whose ranks are saved (rank_slots.hpp) what can be
// opened again gets a number that only one rank of the job may have: kFirst + rank, that + the number of ranks, and so on.
// docs/design/checkpoint.md.
#pragma once

#include <sys/stat.h>

namespace tmpi::privatize {

/// Such that the runtime, whose descriptors have low numbers, comes near it in no node process.
inline constexpr int kFirstOwnNumber = 1024;

/// A regular file, or a device of which one is as good as another (/dev/null, /dev/urandom).
bool can_be_opened_again(const struct stat& status) noexcept;

/// `fd` may be taken along by the rank as far as its number goes.
bool is_own_number(int fd, int rank) noexcept;

/// `fd` at the lowest free number that is the rank's own, in place of what it was. `fd` itself: it has such a one, ranks of
/// this job are not saved, or the limit on descriptors (RLIMIT_NOFILE) leaves none. Any thread of the rank.
int at_own_number(int fd, int rank) noexcept;

}  // namespace tmpi::privatize
