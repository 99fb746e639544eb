// JobLink: a connection of this job's tmpirun with another job's, over a Unix socket, from the first word to the last
// (docs/design/dynamic-processes.md, "Between jobs"). What it waits for is its state:
//
//     Calling ---- hello ----> AwaitingKey ---- key ---\                                   (this job has called)
//     Called ----- hello ------------------------------> Preparing -> Joining -> Ready -> Up (the other one has)
//
// The end comes in any state, and is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/link_calls.hpp"
#include "launch/neighbours/link_messages.hpp"
#include "launch/wire/channel.hpp"

namespace tmpi::launch {

class JobLink {
 public:
  /// All links of this job, as one of them sees them.
  class Others {
   public:
    /// Of two jobs that call each other, whether the other's call counts.
    virtual bool yields_to(const LinkHello& hello) = 0;
    /// The call that has come counts: what waits for this job's own call. That one ends without a word.
    virtual std::vector<LinkCalls::Waiting> take_over(const JobLink& called) = 0;
    /// Failure: why this job cannot be connected with one more, said of "it": "has ...".
    virtual Result<void> room() const = 0;
    /// Of the next other job.
    virtual int next_index() = 0;

   protected:
    ~Others() = default;
  };

  /// This job calls `job`, over `socket`; somebody has called. `own` and `others` must outlive it.
  JobLink(const LinkedJob& own, Others& others, Fd socket, std::uint64_t job);
  JobLink(const LinkedJob& own, Others& others, Fd socket);

  bool over() const { return is<Over>(); }
  bool up() const { return is<Up>(); }
  /// This job's call, and the other has not said who it is.
  bool calls() const { return is<Calling>(); }
  /// The other job has called meanwhile, and is to be waited for.
  bool has_yielded() const { return calls() && channel_.in() < 0; }
  /// The other job's number, as far as it is known, and its index here; 0: none yet, or it is over.
  std::uint64_t job() const;
  int index() const { return over() ? 0 : index_; }
  LinkCalls& calls_between() { return calls_; }

  /// For poll(); -1: nothing.
  int descriptor() const { return channel_.in(); }
  bool wants_to_send() const { return channel_.wants_to_send(); }
  void flush() { channel_.flush(); }  // an end shows when it is read
  void receive();

  /// kWayPrepared, kWayJoined, kWayLost of this job's node process with this number.
  void on_answer(std::size_t node, FrameType type, const WayAnswer& answer);

  Deadline deadline() const;
  void extend(Clock::duration pause);
  void on_deadline(Clock::time_point now);

  /// This job ends; `why`: not by itself. Blocks until `deadline` at most.
  void leave(const std::string& why, Clock::time_point deadline);
  /// Ends it without a word.
  void drop();

 private:
  // What a link has only as long as it is in a state.
  struct Calling {
    std::uint64_t job;
  };
  struct Called {};
  struct AwaitingKey {};  // the key is to come
  struct Preparing {      // each node process makes its address for those of the other job
    std::vector<std::optional<std::string>> addresses;
    std::optional<WayAddresses> theirs;
  };
  struct Joining {  // each connects to theirs
    std::vector<bool> joined;
    bool they_are_ready = false;
  };
  struct Ready {};  // they are not
  struct Up {};
  struct Over {};

  template <class State>
  bool is() const {
    return std::holds_alternative<State>(state_);
  }
  void on_frame(const Frame& frame);
  void on_hello(std::string_view payload);
  void answer_hello();
  void on_key(std::string_view payload);
  void prepare(net::JobKey key);
  void on_addresses(std::string_view payload);
  WayAddresses own_addresses(const Preparing& preparing) const;
  void join_when_known();
  void on_their_readiness();
  void on_own_readiness();
  void be_up();
  void send(FrameType type, std::uint16_t detail, std::string_view payload) {
    channel_.send(type, -1, detail, payload);
  }
  void tell_nodes(FrameType type, std::string_view payload) const;
  void refuse(const std::string& why, std::uint16_t detail = 0);
  void refuse_nonsense() { refuse("it has sent a message that makes no sense"); }
  void refuse_for_own(const std::string& what);
  void end(const std::string& why, const std::string& of_its_end);

  const LinkedJob& own_;
  Others& others_;
  const bool called_;  // by this job: the other one draws the key
  Channel channel_;
  std::variant<Calling, Called, AwaitingKey, Preparing, Joining, Ready, Up, Over> state_;
  Deadline deadline_;  // to be up
  std::string lost_;   // a node process has lost one of theirs: until the deadline something may explain it
  LinkHello other_;    // from AwaitingKey or Preparing on
  int index_ = 0;      // of the other job, from Preparing on
  LinkCalls calls_{own_, channel_};
};

}  // namespace tmpi::launch
