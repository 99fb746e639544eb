#include "launch/launcher/state_dumps.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/rank_pid.hpp"
#include "launch/wire/rank_ranges.hpp"

namespace tmpi::launch {

namespace {
constexpr long kMostTreeLines = 40;  // behind a state dump
}

void StateDumps::request(const std::string& title, bool then_kill) {
  if (then_kill) end_.kill_after_reports(kStateDumpWait);
  ask(title, then_kill, then_kill ? kStateDumpThenKill : 0);
}

void StateDumps::request_unless_handled(int signal, const std::string& title) {
  ask(title, false, static_cast<std::uint16_t>(kStateDumpUnlessHandled + signal));
}

void StateDumps::request_stacks(Answer answer) {
  askers_.push_back(std::move(answer));
  ask({}, false, 0);
}

void StateDumps::ask(const std::string& title, bool then_kill, std::uint16_t detail) {
  nodes_.for_each_running([&](Node& node) {
    if (!node.control_open()) return;
    request_.asked(node.number(), title, then_kill);
    node.send(FrameType::kStateDumpWanted, detail, "");
  });
}

void StateDumps::answered(const Node& node, std::string_view payload, bool handled) {
  if (handled) request_.hide();
  if (request_.answered(node.number(), unpack_state_dump(payload)) && request_.complete()) show();
}

void StateDumps::node_ended(const Node& node) {
  if (!request_.waits_for(node.number())) return;
  request_.forget(node.number());
  if (request_.complete() && request_.has_answers()) show();
}

void StateDumps::show_incomplete() {
  if (request_.has_answers()) show();
}

// Where a debugger, `top` or `kill` finds them: the node processes, and what their ranks' getpid() says.
std::string StateDumps::processes() const {
  std::vector<std::vector<std::pair<int, int>>> ranks(plan_.nodes.size());
  for (std::size_t rank = 0; rank < plan_.node_of.size(); ++rank)
    ranks[static_cast<std::size_t>(plan_.node_of[rank])].emplace_back(rank, 1);
  std::string text;
  nodes_.for_each_running([&](const Node& node) {
    if (!node.hello) return;
    auto& numbers = ranks[static_cast<std::size_t>(node.number())];
    text +=
        fmt::format("  process {} on host {}: {}", node.hello->pid, node.hello->host, rank_ranges(numbers));
    for (auto& number : numbers) number.first = rank_pid(number.first, node.hello->pid);
    if (rank_pids_) text += fmt::format(", whose getpid() is {}", number_ranges(numbers));
    text += "\n";
  });
  return text;
}

void StateDumps::show() {
  const bool then_kill = request_.then_kill();
  const bool hidden = request_.hidden();
  const StateDumpRequest::Answer answer = request_.take();
  if (!hidden && !answer.title.empty()) {
    const std::string tree = any_known(answer.stacks) ? describe_tree(answer.stacks) : "";
    const bool is_short = std::ranges::count(tree, '\n') <= kMostTreeLines;
    output_.message(fmt::format(
        "tmpirun: {}\n{}{}{}", answer.title, describe(answer.dump), processes(),
        tree.empty() ? ""
        : is_short   ? "  how they have got there:\n" + tree
                     : fmt::format("  how they have got there: tmpirun --job {} --stacks\n", getpid())));
  }
  for (const Answer& asker : std::exchange(askers_, {}))
    asker(any_known(answer.stacks) ? describe_tree(answer.stacks) : describe(answer.dump));
  if (then_kill) end_.kill_nodes();
}

}  // namespace tmpi::launch
