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
  ask({title, then_kill, {}}, then_kill ? kStateDumpThenKill : 0);
}

void StateDumps::request_unless_handled(int signal, const std::string& title) {
  ask({title, false, {}}, static_cast<std::uint16_t>(kStateDumpUnlessHandled + signal));
}

void StateDumps::request_stacks(StateDumpRequest::Asker asker) {
  ask({{}, false, std::move(asker)}, 0);
}

void StateDumps::request_figures(std::string program, StateDumpRequest::Asker asker) {
  StateDumpRequest request{{}, false, std::move(asker)};
  request.want_figures(std::move(program));
  ask(std::move(request), kStateDumpFigures);
}

void StateDumps::ask(StateDumpRequest request, std::uint16_t detail) {
  const bool any = nodes_.any([](const Node& node) { return node.running() && node.can_be_asked(); });
  if (!any && request.shown())
    output_.message(fmt::format("tmpirun: {}\n  none has begun yet, or all have ended\n", request.title()));
  nodes_.for_each_running([&](Node& node) {
    if (!node.can_be_asked()) return;
    request.asked(node.number());
    node.send(FrameType::kStateDumpWanted, detail, "");
  });
  requests_.push_back(std::move(request));
  finish_complete();  // where nobody could be asked
}

StateDumpRequest* StateDumps::oldest_that_waits_for(int node) {
  const auto found =
      std::ranges::find_if(requests_, [node](const StateDumpRequest& each) { return each.waits_for(node); });
  return found == requests_.end() ? nullptr : &*found;
}

void StateDumps::add_stacks(const Node& node, std::string_view payload) {
  if (StateDumpRequest* request = oldest_that_waits_for(node.number())) request->add(unpack_stacks(payload));
}

void StateDumps::add_figures(const Node& node, std::string_view payload) {
  StateDumpRequest* const request = oldest_that_waits_for(node.number());
  Result<NodeFigures> figures = unpacked<NodeFigures>(payload, "a node process's figures are cut short");
  if (request != nullptr && figures) request->add(*std::move(figures));
}

void StateDumps::answered(const Node& node, std::string_view payload, bool handled) {
  StateDumpRequest* request = oldest_that_waits_for(node.number());
  if (!request) return;  // without a question
  request->answered(node.number(), unpack_state_dump(payload), handled);
  finish_complete();
}

void StateDumps::node_ended(const Node& node) {
  for (StateDumpRequest& request : requests_) request.forget(node.number());
  finish_complete();
}

void StateDumps::finish_complete() {
  while (!requests_.empty() && requests_.front().complete()) {
    const StateDumpRequest request = std::move(requests_.front());
    requests_.pop_front();
    if (request.has_answers() || request.asker()) show(request);
  }
}

void StateDumps::show_incomplete() {
  for (const StateDumpRequest& request : std::exchange(requests_, {}))
    if (request.has_answers()) show(request);
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

void StateDumps::show(const StateDumpRequest& request) {
  if (request.wants_figures()) return request.asker()(packed(request.figures()));
  const std::string tree = any_known(request.stacks()) ? describe_tree(request.stacks()) : "";
  const std::string dump = describe(request.dump());
  if (request.shown()) {
    const bool is_short = std::ranges::count(tree, '\n') <= kMostTreeLines;
    output_.message(fmt::format(
        "tmpirun: {}\n{}{}{}", request.title(), dump, processes(),
        tree.empty() ? ""
        : is_short   ? "  how they have got there:\n" + tree
                     : fmt::format("  how they have got there: tmpirun --job {} --stacks\n", getpid())));
  }
  if (request.asker()) request.asker()(tree.empty() ? dump : tree);
  if (request.then_kill()) end_.kill_nodes();
}

}  // namespace tmpi::launch
