// Functions and variables of libc whose state the ranks of a node process share (privatize/libc_state.txt): what --check
// warns of when a program refers to one.
#pragma once

#include <span>

namespace tmpi::check {

struct SharedState {
  const char* name;
  const char* what;  ///< the state, and what sharing it means
};

/// In alphabetical order of names; those of one state have the same text.
std::span<const SharedState> shared_state() noexcept;

}  // namespace tmpi::check
