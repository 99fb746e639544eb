// How long tmpirun waits for others, and the moments at which it has to look again. Time in which tmpirun itself
// did not run (it was stopped, or its machine) does not count: the others most likely could not do anything either.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tmpi::launch {

inline constexpr std::chrono::seconds kGrace{5};          // for a program that handles SIGTERM itself
inline constexpr std::chrono::seconds kEndingWait{2};     // for a node process that was told to end
inline constexpr std::chrono::seconds kStateDumpWait{4};  // for a node process to answer
inline constexpr std::chrono::seconds kReports{60};       // more for the files of --profile and --trace
inline constexpr std::chrono::seconds kDrain{2};          // for channels to end after all their writers have
inline constexpr std::chrono::seconds kHeartbeat{1};      // between those to other machines
// For what explains a lost connection: that the process has died. Of one on this machine tmpirun sees whether it is about
// to; of one elsewhere its end says so, or its supervisor; of one that others have started only the end of its channel.
inline constexpr std::chrono::seconds kBetterCause{3};
inline constexpr std::chrono::seconds kBetterCauseHere{1};
inline constexpr std::chrono::milliseconds kDyingLook{100};
inline constexpr std::chrono::seconds kEndOfChannel{1};
inline constexpr std::chrono::seconds kStopPatience{5};  // with a node process that somebody has stopped
inline constexpr std::chrono::milliseconds kPause{200};  // later than that it has not run

using Clock = std::chrono::steady_clock;
/// When something is to be done; nothing: never.
using Deadline = std::optional<Clock::time_point>;

inline bool has_passed(const Deadline& deadline, Clock::time_point now) {
  return deadline && now >= *deadline;
}

/// How long poll() may wait, in milliseconds (-1: for ever), if it waits for the deadline too.
inline int sooner(int wait, const Deadline& deadline) {
  if (!deadline) return wait;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  const int bounded = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
  return wait < 0 ? bounded : std::min(wait, bounded);
}

}  // namespace tmpi::launch
