// LinkCalls: what ranks of two connected jobs ask each other about ports, as far as it goes over one link
// (docs/design/dynamic-processes.md, "Between jobs"): this job's ranks' questions until the other job's tmpirun has answered
// them for good, and theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/neighbours/link_messages.hpp"
#include "launch/wire/channel.hpp"

namespace tmpi::launch {

inline constexpr std::chrono::seconds kLinkTime{10};  // for the other job, to be connected and to answer

/// Whom links bring events to.
struct LinkEvents {
  /// A rank of another job, by the number that it has here, asks something.
  std::function<void(int rank, const PortRequest& request)> asked;
  /// For a rank of this job.
  std::function<void(const PortReply& reply)> answered;
  /// Whether that rank takes the pairing that it was answered last, or does not wait for it any more. The result: whether
  /// the rank with which it has been paired is still there, and has been told.
  std::function<bool(int rank, std::int64_t request, bool taken)> decided;
  /// The other job with this index has ended.
  std::function<void(int index)> ended;

  void refuse(int rank, std::int64_t request, const std::string& why) const;
};

/// What all links of a job have in common.
struct LinkedJob {
  const NodeSet& nodes;
  LinkEvents events;
  LinkHello hello;  ///< what it says of itself
};

class LinkCalls {
 public:
  using Waiting = std::pair<int, PortRequest>;

  /// Both must outlive it.
  LinkCalls(const LinkedJob& job, Channel& channel) : job_(job), channel_(channel) {}
  LinkCalls(const LinkCalls&) = delete;
  LinkCalls& operator=(const LinkCalls&) = delete;

  /// The other job, the one with this index, can be asked: what waits goes to it.
  void begin(int index, const LinkHello& other);

  /// A rank of this job asks; it is answered in any case. withdraw() is answered from here: the other tmpirun may be stopped.
  void ask(int rank, const PortRequest& request);
  void withdraw(int rank, const PortRequest& request);
  /// The answer to a rank of theirs, by the number that it has here.
  void answer(const PortReply& reply);

  /// kLinkCall, kLinkReply, kLinkVerdict, after begin(). Failure: nonsense.
  Result<void> on_frame(const Frame& frame);

  /// Where a rank of theirs lives there, as far as it has asked something; -1: unknown.
  int node_of(int rank) const;

  Deadline deadline() const;
  void extend(Clock::duration pause);
  /// What has not been answered in time.
  void give_up(Clock::time_point now);

  /// What waits for begin() is another link's from now on.
  std::vector<Waiting> take_waiting() { return std::exchange(waiting_, {}); }
  void add_waiting(std::vector<Waiting> calls) { waiting_ = std::move(calls); }
  /// The link ends.
  void refuse_all(const std::string& why);

 private:
  // A call that the other job has not answered for good.
  struct Asked {
    PortRequest request;
    Deadline deadline;                // for any answer
    std::optional<PortReply> paired;  // the verdict has been sent, and its answer is to come
    bool withdrawn = false;           // since then
  };

  void send_call(int rank, const PortRequest& request);
  void forward(int rank, const PortRequest& request);
  bool on_call(std::string_view payload);
  bool on_reply(std::string_view payload);
  bool on_verdict(const Frame& frame);
  bool on_agreement(const LinkVerdict& verdict, bool there);

  const LinkedJob& job_;
  Channel& channel_;
  int index_ = 0;  // of the other job; 0: before begin()
  int nodes_ = 0;  // that it has
  std::string name_;
  std::vector<Waiting> waiting_;                              // for begin()
  std::map<std::pair<int, std::int64_t>, Asked> unanswered_;  // by rank of this job and number of its request
  std::map<int, int> node_of_;                                // of their ranks that have asked something
};

}  // namespace tmpi::launch
