// Checkpoints: what tmpirun knows of those that its job has written, and who waits for one (--checkpoint-now, a signal, hosts
// that are to be added or removed). They are written by the ranks, at a moment of theirs (mpi/save).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/options/options.hpp"
#include "launch/wire/checkpoint_news.hpp"

namespace tmpi::launch {

class Checkpoints {
 public:
  /// Both must outlive it.
  Checkpoints(const Settings& settings, const NodeSet& nodes) : settings_(settings), nodes_(nodes) {}

  /// Told when the next one is complete, or why it could not be.
  using Answer = std::function<void(const Result<void>& written)>;
  /// Has the ranks written down, from now on. The answer comes later, if the job does not end before. Failure: this job does
  /// not do it, or not now; there will be no answer.
  Result<void> request(Answer answer);
  /// Answers those who wait: nothing comes any more.
  void give_up(const std::string& why);
  /// kCheckpoint.
  void on_frame(std::string_view payload, std::uint16_t what);

  /// There is one that the ranks can go on from, or may be: it was begun, and its end has not been heard of.
  bool any() const { return written_ || begun_ || settings_.job.revived(); }
  /// In this run of the node processes.
  bool written() const { return written_.has_value(); }
  /// When that was, or else when they have begun.
  Clock::time_point when() const { return written_.value_or(start_); }
  /// The last one of this run, nothing: none was begun.
  const std::optional<CheckpointNews>& last() const { return begun_; }
  /// The number of the first one of this run, 0: none was begun.
  std::uint64_t first() const { return first_; }

 private:
  static void answer(std::vector<Answer>& all, const Result<void>& result);

  const Settings& settings_;
  const NodeSet& nodes_;
  const Clock::time_point start_ = Clock::now();
  Deadline written_;
  std::optional<CheckpointNews> begun_;
  std::uint64_t first_ = 0;
  std::vector<Answer> waiting_, served_;  // for one that begins, for the one that has begun
};

}  // namespace tmpi::launch
