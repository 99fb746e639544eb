#include "launch/launcher/quiescence_rounds.hpp"

#include <algorithm>

namespace tmpi::launch {

bool QuiescenceRounds::became_quiescent(int node, MessageCounts counts) {
  State& state = nodes_[static_cast<std::size_t>(node)];
  if (!state.quiescent || !(state.counts == counts)) held_ = false;  // it has moved since the round began
  state.quiescent = true;
  state.counts = counts;
  return begin_round();
}

bool QuiescenceRounds::finished(int node, MessageCounts counts) {
  State& state = nodes_[static_cast<std::size_t>(node)];
  state.finished = true;
  if (state.asked) {  // it will not answer any more
    state.asked = false;
    --open_;
    held_ = false;
  }
  return became_quiescent(node, counts);
}

bool QuiescenceRounds::begin_round() {
  if (open_ > 0 || !std::ranges::all_of(nodes_, &State::quiescent)) return false;
  MessageCounts sum;
  for (const State& state : nodes_) {
    sum.sent += state.counts.sent;
    sum.received += state.counts.received;
  }
  if (sum.sent != sum.received) return false;  // whoever gets the rest will become quiescent again
  held_ = true;
  for (State& state : nodes_) {
    state.asked = !state.finished;
    open_ += state.asked ? 1 : 0;
  }
  return open_ > 0;
}

QuiescenceRounds::Verdict QuiescenceRounds::answer(int node, bool quiescent, MessageCounts counts) {
  State& state = nodes_[static_cast<std::size_t>(node)];
  if (!state.asked) return Verdict::kWait;
  state.asked = false;
  if (!quiescent || !(counts == state.counts)) {
    held_ = false;
    if (!quiescent) state.quiescent = false;  // it says so when it becomes quiescent again
  }
  if (--open_ > 0) return Verdict::kWait;
  if (held_) return Verdict::kDeadlock;
  return begin_round() ? Verdict::kAskAgain : Verdict::kWait;
}

}  // namespace tmpi::launch
