// Names of files as a rank has them. /proc/self/exe is the node process's file: a rank that asks for its own by that
// name gets its program's. /proc/ID with a rank's process id (rank_pid.hpp) leads to its node process.
#pragma once

#include <sys/types.h>

namespace tmpi::privatize {

/// A name as the kernel is to have it. Any thread; does not allocate. Lives no longer than the name it was made of.
class OwnName {
 public:
  /// `follows`: the program's file is meant if it is a link's name, not the link.
  explicit OwnName(const char* name, bool follows = true) noexcept;
  OwnName(const OwnName&) = delete;
  OwnName& operator=(const OwnName&) = delete;

  /// The file of the program that the calling thread's rank runs has taken the place of /proc/self/exe.
  bool is_program() const noexcept { return is_program_; }
  operator const char*() const noexcept {
    return name_;
  }  // NOLINT(google-explicit-constructor): a name for a name

 private:
  const char* name_;
  bool is_program_ = false;
  char buffer_[256];  // what is longer is no name in /proc that a rank has an own version of
};

/// The calling rank has made a child as posix_spawn does: it gets the rank's limits, and is collected by it. `error`: what was
/// returned, which is returned again; unless 0 there is no child.
int spawned(int error, pid_t child) noexcept;

}  // namespace tmpi::privatize
