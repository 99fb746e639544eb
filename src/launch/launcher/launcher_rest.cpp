// When all node processes stand still: docs/deadlock.md.
#include <algorithm>

#include "launch/launcher/launcher.hpp"

namespace tmpi::launch {
namespace {

Rest rest_of(const Frame& frame) {
  std::string_view payload = frame.payload;
  BalanceRecord record{};
  if (!read_record(payload, record)) return {};
  return {record.sent, record.received};
}

}  // namespace

void Launcher::ask_all(FrameType question) {
  for_each_running([&](Node& node) {
    if (!rest_.has_finished(node.number())) node.send(question, 0, "");
  });
}

void Launcher::on_done(Node& node, const Frame& frame) {
  node.done = true;
  if (several() && rest_.finished(node.number(), rest_of(frame))) ask_all(FrameType::kAtRestStill);
}

void Launcher::on_at_rest(const Node& node, const Frame& frame) {
  if (rest_.at_rest(node.number(), rest_of(frame))) ask_all(FrameType::kAtRestStill);
}

void Launcher::on_resting(const Node& node, const Frame& frame) {
  switch (rest_.answer(node.number(), frame.header.detail == 1, rest_of(frame))) {
    case StallRounds::Verdict::kWait:
      return;
    case StallRounds::Verdict::kAskAgain:
      return ask_all(FrameType::kAtRestStill);
    case StallRounds::Verdict::kDeadlock:
      standings_.assign(static_cast<std::size_t>(plan_.size()), {});
      return ask_all(FrameType::kStandingWanted);
  }
}

// The node processes know the words for it; one of them gets what all have said.
void Launcher::on_standing(const Node& node, const Frame& frame) {
  if (standings_.empty()) return;
  standings_[static_cast<std::size_t>(node.number())] = frame.payload;
  Packer packer;
  std::vector<std::string> known;
  Node* speaker = nullptr;
  for (const auto& other : nodes_) {
    if (rest_.has_finished(other->number())) continue;
    const std::string& standing = standings_[static_cast<std::size_t>(other->number())];
    if (standing.empty()) return;
    known.push_back(standing);
    if (speaker == nullptr) speaker = other.get();
  }
  packer.texts(known);
  standings_.clear();
  speaker->send(FrameType::kExplain, 0, packer.bytes());
}

}  // namespace tmpi::launch
