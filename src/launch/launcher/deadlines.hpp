// How long tmpirun waits for others. Time in which tmpirun itself did not run (it was stopped, or its
// machine) does not count: the others most likely could not do anything either.
#pragma once

#include <chrono>

namespace tmpi::launch {

inline constexpr std::chrono::seconds kGrace{5};        // for a program that handles SIGTERM itself
inline constexpr std::chrono::seconds kEndingWait{2};   // for a node process that was told to end
inline constexpr std::chrono::seconds kPictureWait{4};  // for a node process to answer
inline constexpr std::chrono::seconds kReports{60};     // more for the files of --profile and --trace
inline constexpr std::chrono::seconds kDrain{2};        // for channels to end after all their writers have
inline constexpr std::chrono::seconds kSignOfLife{1};   // between those to other machines
// For what explains a lost connection: that the process has died, which of one that others have started only
// the end of its channel says.
inline constexpr std::chrono::seconds kBetterCause{3};
inline constexpr std::chrono::seconds kEndOfChannel{1};
inline constexpr std::chrono::milliseconds kPause{200};  // later than that it has not run

}  // namespace tmpi::launch
