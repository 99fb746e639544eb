#include "launch/launcher/stall_rounds.hpp"

#include <algorithm>

namespace tmpi::launch {

bool StallRounds::at_rest(int node, Rest rest) {
  State& state = nodes_[static_cast<std::size_t>(node)];
  if (!state.resting || !(state.rest == rest)) held_ = false;  // it has moved since the round began
  state.resting = true;
  state.rest = rest;
  return begin_round();
}

bool StallRounds::finished(int node, Rest rest) {
  State& state = nodes_[static_cast<std::size_t>(node)];
  state.finished = true;
  if (state.asked) {  // it will not answer any more
    state.asked = false;
    --open_;
    held_ = false;
  }
  return at_rest(node, rest);
}

bool StallRounds::begin_round() {
  if (open_ > 0 || !std::ranges::all_of(nodes_, &State::resting)) return false;
  Rest sum;
  for (const State& state : nodes_) {
    sum.sent += state.rest.sent;
    sum.received += state.rest.received;
  }
  if (sum.sent != sum.received) return false;  // whoever gets the rest will come to rest again
  held_ = true;
  for (State& state : nodes_) {
    state.asked = !state.finished;
    open_ += state.asked ? 1 : 0;
  }
  return open_ > 0;
}

StallRounds::Verdict StallRounds::answer(int node, bool resting, Rest rest) {
  State& state = nodes_[static_cast<std::size_t>(node)];
  if (!state.asked) return Verdict::kWait;
  state.asked = false;
  if (!resting || !(rest == state.rest)) {
    held_ = false;
    if (!resting) state.resting = false;  // it says so when it comes to rest again
  }
  if (--open_ > 0) return Verdict::kWait;
  if (held_) return Verdict::kDeadlock;
  return begin_round() ? Verdict::kAskAgain : Verdict::kWait;
}

}  // namespace tmpi::launch
