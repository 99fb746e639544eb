#include "launch/wire/stacks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "launch/wire/frames.hpp"
#include "launch/wire/rank_ranges.hpp"

namespace tmpi::launch {

std::string pack(const Stacks& stacks) {
  Packer packer;
  packer.number(static_cast<std::int64_t>(stacks.size()));
  for (const Stack& stack : stacks) {
    packer.texts(stack.frames);
    packer.text(pack(stack.ranks));
  }
  return packer.take();
}

Stacks unpack_stacks(std::string_view payload) {
  Unpacker unpacker(payload);
  Stacks stacks;
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    Stack stack;
    unpacker.texts(stack.frames);
    stack.ranks = unpack_state_dump(unpacker.text());
    if (unpacker.ok()) stacks.push_back(std::move(stack));
  }
  return stacks;
}

bool any_known(const Stacks& stacks) {
  return std::ranges::any_of(stacks, [](const Stack& stack) { return !stack.frames.empty(); });
}

namespace {

using Ranges = std::vector<std::pair<int, int>>;

// A call, with all that has been called from it.
struct Branch {
  StateDump ranks;  // of the whole branch
  StateDump ended;  // who is here, and not further
  std::map<std::string, std::unique_ptr<Branch>> calls;

  Branch& to(const std::string& frame) {
    std::unique_ptr<Branch>& branch = calls[frame];
    if (branch == nullptr) branch = std::make_unique<Branch>();
    return *branch;
  }
  int first() const { return std::ranges::min_element(ranks, {}, &StateDumpEntry::first)->first; }
};

Ranges ranges_of(const StateDump& dump) {
  Ranges ranges;
  for (const StateDumpEntry& entry : dump) ranges.emplace_back(entry.first, entry.count);
  std::ranges::sort(ranges);
  return ranges;
}

int count(const StateDump& dump) {
  return std::accumulate(dump.begin(), dump.end(), 0,
                         [](int sum, const StateDumpEntry& entry) { return sum + entry.count; });
}

class Text {
 public:
  void add(const Branch& branch, int depth) {
    add_ends(branch, depth);
    std::vector<std::pair<const std::string*, const Branch*>> calls;
    for (const auto& [frame, call] : branch.calls) calls.emplace_back(&frame, call.get());
    std::ranges::stable_sort(calls, {}, [](const auto& call) { return call.second->first(); });
    for (const auto& [frame, call] : calls) {
      const int ranks = count(call->ranks);
      std::string who;
      if (depth == 0 || ranks != count(branch.ranks)) {
        who = fmt::format("{}{}: ", rank_ranges(ranges_of(call->ranks)),
                          ranks > 1 ? fmt::format(" ({})", ranks) : "");
      }
      line(depth, who + *frame);
      add(*call, depth + 1);
    }
  }
  std::string take(int most) {
    std::string text;
    const std::size_t shown = most == 0 || lines_.size() <= static_cast<std::size_t>(most)
                                  ? lines_.size()
                                  : static_cast<std::size_t>(most);
    for (std::size_t i = 0; i < shown; ++i) text += lines_[i] + "\n";
    if (shown < lines_.size()) text += fmt::format("  ... and {} lines more\n", lines_.size() - shown);
    return text;
  }

 private:
  // What describe() says of them; without the ranks where these are all that the line above names.
  void add_ends(const Branch& branch, int depth) {
    std::string text = describe(in_order(branch.ended));
    const bool all = depth > 0 && branch.calls.empty() && std::ranges::count(text, '\n') == 1;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      std::string words = text.substr(2, end - 2);
      if (all) words.erase(0, words.find(": ") + 2);
      line(depth, words);
      text.erase(0, end + 1);
    }
  }
  void line(int depth, const std::string& words) {
    lines_.push_back(std::string(static_cast<std::size_t>(2 + 2 * depth), ' ') + words);
  }

  std::vector<std::string> lines_;
};

}  // namespace

std::string describe_tree(const Stacks& stacks, int most) {
  Branch root;
  for (const Stack& stack : stacks) {
    const auto append = [&](StateDump& dump) {
      dump.insert(dump.end(), stack.ranks.begin(), stack.ranks.end());
    };
    Branch* branch = &root;
    append(branch->ranks);
    for (const std::string& frame : stack.frames) {
      branch = &branch->to(frame);
      append(branch->ranks);
    }
    append(branch->ended);
  }
  Text text;
  text.add(root, 0);
  return text.take(most);
}

}  // namespace tmpi::launch
