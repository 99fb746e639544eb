#include "launch/launcher/deadlock_rounds.hpp"

namespace tmpi::launch {
namespace {

MessageCounts counts_in(const Frame& frame) {
  std::string_view payload = frame.payload;
  BalanceRecord record{};
  if (!read_record(payload, record)) return {};
  return {record.sent, record.received};
}

}  // namespace

void DeadlockRounds::ask_all(FrameType question) {
  nodes_.for_each_running([&](Node& node) {
    if (!rounds_.has_finished(node.number())) node.send(question, 0, "");
  });
}

void DeadlockRounds::on_quiescent(const Node& node, const Frame& frame) {
  if (rounds_.became_quiescent(node.number(), counts_in(frame))) ask_all(FrameType::kStillQuiescent);
}

void DeadlockRounds::on_done(const Node& node, const Frame& frame) {
  if (nodes_.several() && rounds_.finished(node.number(), counts_in(frame)))
    ask_all(FrameType::kStillQuiescent);
}

void DeadlockRounds::on_answer(const Node& node, const Frame& frame) {
  switch (rounds_.answer(node.number(), frame.header.detail == 1, counts_in(frame))) {
    case QuiescenceRounds::Verdict::kWait:
      return;
    case QuiescenceRounds::Verdict::kAskAgain:
      return ask_all(FrameType::kStillQuiescent);
    case QuiescenceRounds::Verdict::kDeadlock:
      edges_.assign(static_cast<std::size_t>(nodes_.planned()), {});
      return ask_all(FrameType::kWaitForEdgesWanted);
  }
}

// The node processes know the words for it; one of them gets what all have said.
void DeadlockRounds::on_wait_for_edges(const Node& node, const Frame& frame) {
  if (edges_.empty()) return;
  edges_[static_cast<std::size_t>(node.number())] = frame.payload;
  std::vector<std::string> known;
  Node* reporter = nullptr;
  for (const auto& other : nodes_) {
    if (rounds_.has_finished(other->number())) continue;
    const std::string& edges = edges_[static_cast<std::size_t>(other->number())];
    if (edges.empty()) return;
    known.push_back(edges);
    if (reporter == nullptr) reporter = other.get();
  }
  if (reporter == nullptr) return;
  Packer packer;
  packer.texts(known);
  edges_.clear();
  reporter->send(FrameType::kExplain, 0, packer.bytes());
}

}  // namespace tmpi::launch
