// JobEnd: that the job ends before its ranks do, why, and how its node processes are brought to their end. The first
// cause wins: it decides the exit code and the message; what follows from it elsewhere is not reported.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/node_set.hpp"

namespace tmpi::launch {

class JobEnd {
 public:
  enum class Cause : std::uint8_t {
    kNone,
    kStartFailed,  ///< tmpirun's own doing
    kNodeReported,
    kNodeDied,
    kConnectionLost,
    kRule,
    kSignal,
    kTimeout,
    kOutputGone,
    kOutputFailed,
    kProtocol,
    kResumed  ///< the ranks go on elsewhere
  };

  /// `for_reports`: what an ending node process may need for its profile and trace.
  JobEnd(const NodeSet& nodes, std::chrono::seconds for_reports) : nodes_(nodes), for_reports_(for_reports) {}

  /// Notes the cause, tmpirun's exit code and its message (without "tmpirun: "; empty: none). True if it is the first
  /// one. The node processes know nothing yet.
  bool because(Cause cause, int code, std::string message);
  /// The same, since node process `lost` is.
  bool because_of(Cause cause, const Node& lost, int code, std::string message) {
    if (!because(cause, code, std::move(message))) return false;
    lost_ = lost.number();
    return true;
  }
  /// The node process whose loss is the cause, -1: it is something else.
  int lost() const { return lost_; }
  Cause cause() const { return cause_; }
  bool begun() const { return cause_ != Cause::kNone; }
  int code() const { return code_; }
  const std::string& message() const { return message_; }

  /// Node processes other than `except` send their end reports and end; they are killed if they do not.
  void tell_nodes(const Node* except = nullptr);
  /// At once, with everything that they have started.
  void kill_nodes();
  /// They are killed after `wait`; the latest call counts.
  void kill_after(Clock::duration wait) { kill_at_ = Clock::now() + wait; }
  /// The same, with time for their reports.
  void kill_after_reports(Clock::duration wait) { kill_after(wait + for_reports_); }

  /// When kill_nodes() is due; the launcher calls it.
  const Deadline& kill_at() const { return kill_at_; }
  /// tmpirun has not run for so long.
  void extend(Clock::duration pause);

 private:
  const NodeSet& nodes_;
  std::chrono::seconds for_reports_;
  Cause cause_ = Cause::kNone;
  int code_ = 0;
  int lost_ = -1;
  std::string message_;
  Deadline kill_at_;
};

}  // namespace tmpi::launch
