// A process that has been killed and does not end: what is left of it waits in the kernel, for a device or a file server.
// Nothing of its program runs any more, but waitpid() does not return before the kernel is done with it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace tmpi::launch {

/// How long a process has to be stuck in its exit until its supervisor, or tmpirun on its own machine, waits no longer.
inline constexpr std::chrono::milliseconds kExitPatience{1000};
inline constexpr std::chrono::milliseconds kExitPatienceHere{500};

/// Whether the process is on its way out, at whatever speed, or has ended and is not collected yet.
bool is_exiting(pid_t process);

/// Looks at one process again and again. One thread at a time.
class ExitWatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ExitWatch(Clock::duration patience = kExitPatience) : patience_(patience) {}

  /// The status that waitpid() will give, if for so long, as far as is known, every thread of the process has been on its
  /// way out, or has ended, and none has left the wait in the kernel that it was in. Nothing for a process that gets on, be
  /// it slowly, that has ended, or is of another user. By system calls.
  std::optional<int> look(pid_t process, Clock::time_point now);
  /// The same, of a process whose folder in /proc is `folder`.
  std::optional<int> look(const char* folder, Clock::time_point now);
  /// The last look has found it waiting.
  bool waits() const { return since_.has_value(); }

 private:
  Clock::duration patience_;
  std::optional<Clock::time_point> since_;
  std::uint64_t switches_ = 0;
};

}  // namespace tmpi::launch
