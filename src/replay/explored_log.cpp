#include "replay/explored_log.hpp"

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
  out_.append(bytes_of(event));
  return event.number;
}

void ExploredLog::took(std::uint32_t number, Envelope message) {
  ExploredEvent event{ExploredKind::kTake};
  event.source = message.source;
  event.tag = message.tag;
  event.number = number;
  out_.append(bytes_of(event));
}

void ExploredLog::sent(std::uint64_t context, int source, int tag, int to) {
  ExploredEvent event{ExploredKind::kSend};
  event.peer = to;
  event.context = context;
  event.source = source;
  event.tag = tag;
  out_.append(bytes_of(event));
}

void ExploredLog::meet(std::uint64_t context, Waits waits, int root, int own, int members) {
  ExploredEvent event{ExploredKind::kCollective};
  event.peer = own;
  event.context = context;
  event.source = root;
  event.tag = static_cast<std::int32_t>(waits);
  event.number = static_cast<std::uint32_t>(members);
  out_.append(bytes_of(event));
}

// xorshift64 (Marsaglia).
std::uint64_t ExploredLog::random() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

}  // namespace tmpi::replay
