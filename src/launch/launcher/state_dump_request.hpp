// StateDumpRequest: one question to all node processes where their ranks are; their answers become one state dump.
#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "launch/wire/figures.hpp"
#include "launch/wire/stacks.hpp"
#include "launch/wire/state_dump.hpp"

namespace tmpi::launch {

class StateDumpRequest {
 public:
  /// Who wants the stacks of all ranks, as text.
  using Asker = std::function<void(const std::string& text)>;

  /// `title`: above what is shown; empty: nothing is. `asker` may be empty.
  StateDumpRequest(std::string title, bool then_kill, Asker asker)
      : title_(std::move(title)), asker_(std::move(asker)), then_kill_(then_kill) {}

  /// `node` has been asked.
  void asked(int node) {
    if (waits_.size() <= static_cast<std::size_t>(node)) waits_.resize(static_cast<std::size_t>(node) + 1);
    waits_[static_cast<std::size_t>(node)] = true;
  }
  bool waits_for(int node) const {
    return static_cast<std::size_t>(node) < waits_.size() && waits_[static_cast<std::size_t>(node)];
  }
  /// The answer of a node process that it waits for. `handled`: a rank there has handled the signal, so that
  /// nothing is to be shown, unless the node processes are killed after it.
  void answered(int node, StateDump entries, bool handled) {
    forget(node);
    answered_ = true;
    hidden_ |= handled && !then_kill_;
    entries_.insert(entries_.end(), std::make_move_iterator(entries.begin()),
                    std::make_move_iterator(entries.end()));
  }
  /// The stacks of a node process, which come before its answer.
  void add(Stacks stacks) {
    stacks_.insert(stacks_.end(), std::make_move_iterator(stacks.begin()),
                   std::make_move_iterator(stacks.end()));
  }
  /// The figures of a node process, which come before its answer.
  void add(NodeFigures figures) { figures_.nodes.push_back(std::move(figures)); }
  /// Nothing else is wanted; `program` is the job's.
  void want_figures(std::string program) {
    wants_figures_ = true;
    figures_.program = std::move(program);
  }
  bool wants_figures() const { return wants_figures_; }
  JobFigures figures() const {
    JobFigures all = figures_;
    all.dump = pack(dump());
    return all;
  }
  /// The node process will not answer any more.
  void forget(int node) {
    if (waits_for(node)) waits_[static_cast<std::size_t>(node)] = false;
  }
  bool complete() const {
    for (const bool waits : waits_) {
      if (waits) return false;
    }
    return true;
  }

  bool has_answers() const { return answered_; }
  bool shown() const { return !title_.empty() && !hidden_; }
  bool then_kill() const { return then_kill_; }
  const std::string& title() const { return title_; }
  const Asker& asker() const { return asker_; }
  const Stacks& stacks() const { return stacks_; }
  StateDump dump() const { return in_order(entries_); }  ///< in the order of ranks

 private:
  std::string title_;
  Asker asker_;
  bool then_kill_;
  bool answered_ = false;
  bool hidden_ = false;
  std::vector<bool> waits_;  // by node
  StateDump entries_;
  Stacks stacks_;
  bool wants_figures_ = false;
  JobFigures figures_;
};

}  // namespace tmpi::launch
