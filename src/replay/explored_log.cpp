#include "replay/explored_log.hpp"

#include <utility>

namespace tmpi::replay {

void ExploredLog::narrow(Envelope& wanted) const {
  const auto planned = planned_.find(asked_);
  if (planned != planned_.end()) wanted = planned->second;
}

std::uint32_t ExploredLog::ask(std::uint64_t context, Envelope wanted, bool takes) {
  ExploredEvent event{ExploredKind::kAsk};
  event.context = context;
  event.source = wanted.source;
  event.tag = wanted.tag;
  event.number = asked_++;
  event.peer = takes ? 1 : 0;
  append(event);
  return event.number;
}

void ExploredLog::took(std::uint32_t number, Envelope message) {
  ExploredEvent event{ExploredKind::kTake};
  event.source = message.source;
  event.tag = message.tag;
  event.number = number;
  append(event);
}

void ExploredLog::sent(std::uint64_t context, int source, int tag, int to) {
  ExploredEvent event{ExploredKind::kSend};
  event.peer = to;
  event.context = context;
  event.source = source;
  event.tag = tag;
  append(event);
}

void ExploredLog::meet(std::uint64_t context, Waits waits, int root, int own, int members) {
  ExploredEvent event{ExploredKind::kCollective};
  event.peer = own;
  event.context = context;
  event.source = root;
  event.tag = static_cast<std::int32_t>(waits);
  event.number = static_cast<std::uint32_t>(members);
  append(event);
}

void ExploredLog::decide(Decides what, int value, std::uint64_t alternatives) {
  ExploredEvent event{ExploredKind::kDecide};
  event.peer = static_cast<std::int32_t>(what);
  event.source = value;
  event.context = alternatives;
  event.number = decided_++;
  append(event);
}

Answer ExploredLog::poll(const void* what) {
  asks_for_ = in_vain_.contains(what) ? nullptr : what;
  if (asks_for_ == nullptr) return Answer::kFree;
  const auto planned = planned_decisions_.find(decided_);
  if (planned == planned_decisions_.end()) return Answer::kFree;
  return planned->second != 0 ? Answer::kYes : Answer::kNo;
}

void ExploredLog::polled(bool yes) {
  const void* const what = std::exchange(asks_for_, nullptr);
  if (what == nullptr) return;
  std::set<const void*> others = std::move(in_vain_);  // they have been asked for, too
  decide(Decides::kAnswer, yes ? 1 : 0, 3);
  if (yes) return;
  in_vain_ = std::move(others);
  in_vain_.insert(what);
}

std::optional<int> ExploredLog::planned_request() const {
  const auto planned = planned_decisions_.find(decided_);
  if (planned == planned_decisions_.end() || planned->second == kSeveral) return std::nullopt;
  return planned->second;
}

void ExploredLog::completed(int index, std::uint64_t active) {
  decide(Decides::kRequest, index, active);
}

// xorshift64 (Marsaglia).
std::uint64_t ExploredLog::random() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

}  // namespace tmpi::replay
