// StateDumpRequest: the node processes have been asked where their ranks are; their answers become one state dump.
#pragma once

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "launch/wire/stacks.hpp"
#include "launch/wire/state_dump.hpp"

namespace tmpi::launch {

class StateDumpRequest {
 public:
  /// `node` has been asked (again).
  void asked(int node, std::string title, bool then_kill) {
    if (waiting_.size() <= static_cast<std::size_t>(node))
      waiting_.resize(static_cast<std::size_t>(node) + 1);
    ++waiting_[static_cast<std::size_t>(node)];
    if (!title.empty()) title_ = std::move(title);
    then_kill_ |= then_kill;
    hidden_ &= !then_kill;
  }
  /// What is asked is not to be shown, unless the node processes are killed after it.
  void hide() { hidden_ = !then_kill_; }
  bool hidden() const { return hidden_; }
  /// An answer. False: there was no question.
  bool answered(int node, StateDump entries) {
    if (!waits_for(node)) return false;
    if (--waiting_[static_cast<std::size_t>(node)] > 0) return true;  // an older question's
    entries_.insert(entries_.end(), std::make_move_iterator(entries.begin()),
                    std::make_move_iterator(entries.end()));
    return true;
  }
  /// The stacks that belong to the next answer.
  void add(Stacks stacks) {
    stacks_.insert(stacks_.end(), std::make_move_iterator(stacks.begin()),
                   std::make_move_iterator(stacks.end()));
  }
  bool waits_for(int node) const {
    return static_cast<std::size_t>(node) < waiting_.size() && waiting_[static_cast<std::size_t>(node)] > 0;
  }
  void forget(int node) {
    if (waits_for(node)) waiting_[static_cast<std::size_t>(node)] = 0;
  }
  bool active() const { return !waiting_.empty(); }
  bool complete() const {
    for (const int questions : waiting_) {
      if (questions > 0) return false;
    }
    return active();
  }
  bool has_answers() const { return !entries_.empty(); }
  bool then_kill() const { return then_kill_; }

  /// What has been answered; nothing is asked afterwards.
  struct Answer {
    std::string title;
    StateDump dump;  ///< in the order of ranks
    Stacks stacks;
  };
  Answer take() {
    Answer answer{std::exchange(title_, {}), in_order(std::exchange(entries_, {})),
                  std::exchange(stacks_, {})};
    waiting_.clear();
    hidden_ = false;
    return answer;
  }

 private:
  std::string title_;
  bool then_kill_ = false;
  bool hidden_ = false;
  std::vector<int> waiting_;  // by node: questions without an answer; empty: nothing was asked
  StateDump entries_;
  Stacks stacks_;
};

}  // namespace tmpi::launch
