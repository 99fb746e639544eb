// JobLinks: tmpirun's part in connections with other jobs (docs/design/dynamic-processes.md, "Between jobs"): finds their
// tmpiruns, has the node processes of both jobs make their ways to each other, and carries what ranks ask about ports from
// one job to the other. tmpirun's one thread; never blocks but in leave().
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/neighbours/job_directory.hpp"
#include "launch/neighbours/job_link.hpp"

namespace tmpi::launch {

class JobLinks {
 public:
  /// Whom links bring events to.
  struct Desk {
    /// A rank of another job, by the number that it has here, asks something.
    std::function<void(int rank, const PortRequest& request)> asked;
    /// For a rank of this job.
    std::function<void(const PortReply& reply)> answered;
    /// Whether that rank takes the pairing that it was answered last, or does not wait for it any more. The result: whether
    /// the rank with which it has been paired is still there, and has been told.
    std::function<bool(int rank, std::int64_t request, bool taken)> decided;
    /// The other job with this index has ended.
    std::function<void(int index)> ended;
  };

  /// `plan` and `nodes` must outlive it. `job`: the number of this job's ports; `program`: what it runs, for messages.
  JobLinks(const JobPlan& plan, const NodeSet& nodes, std::uint64_t job, const std::string& program,
           Desk desk);
  ~JobLinks();
  JobLinks(const JobLinks&) = delete;
  JobLinks& operator=(const JobLinks&) = delete;

  /// Whether a job such as this one can be connected with others. Failure: what it is or has, without "it".
  Result<void> possible() const;
  /// Other jobs may find this one, and what it has published. Failure: why not; ports are for its own ranks then.
  Result<void> announce();
  Result<void> publish(const std::vector<std::pair<std::string, std::string>>& names);
  Result<std::string> look_up(std::string_view name);

  /// What a rank of this job asks another job; the answer comes to Desk::answered, in any case.
  void ask(std::uint64_t job, int rank, const PortRequest& request);
  /// The answer to a rank of another job.
  void answer(const PortReply& reply);

  /// Where a rank of another job lives there, as far as it has asked something; -1: unknown.
  int node_of(int rank);

  /// kWayPrepared, kWayJoined, kWayLost of a node process. False: nonsense.
  bool on_frame(const Node& node, const Frame& frame);

  /// What poll() is to look at, in an order that serve() knows.
  void watch(std::vector<pollfd>& requests) const;
  void serve(const pollfd* requests, std::size_t count);
  Deadline deadline() const;
  void on_deadline();
  /// tmpirun has not run for so long.
  void extend(Clock::duration pause);

  /// The job ends; `why`: not by itself. Blocks shortly.
  void leave(const std::string& why);

 private:
  struct Link;

  LinkHello own_hello_to_jobs() const;
  Link* with_job(std::uint64_t job);
  Link* with_index(int index);
  Link& add(int fd, bool called);
  void on_frame(Link& link, const Frame& frame);
  void on_hello(Link& link, std::string_view payload);
  bool make_room_for(const LinkHello& hello);
  void take_over(Link& link);
  void on_key(Link& link, std::string_view payload);
  void prepare(Link& link);
  WayAddresses own_addresses(const Link& link) const;
  void join_when_known(Link& link);
  void up_when_ready(Link& link);
  void on_call(Link& link, std::string_view payload);
  void on_reply(Link& link, std::string_view payload);
  void on_verdict(Link& link, const Frame& frame);
  void on_agreement(Link& link, const LinkVerdict& verdict, bool there);
  void forward(Link& link, int rank, const PortRequest& request);
  void withdraw(Link& link, int rank, const PortRequest& request);
  void give_up_calls(Link& link, Clock::time_point now);
  void receive(Link& link);
  void flush(Link& link);
  void send(Link& link, FrameType type, std::uint16_t detail, std::string_view payload);
  void refuse(Link& link, const std::string& why, std::uint16_t detail = 0);
  void refuse_for_own(Link& link, const std::string& what);
  void drop(Link& link);
  void end(Link& link, const std::string& why, const std::string& of_its_end);
  void tell_nodes(FrameType type, std::string_view payload) const;
  void refuse_call(int rank, std::int64_t request, const std::string& why);

  const JobPlan& plan_;
  const NodeSet& nodes_;
  const std::uint64_t job_;
  const std::string name_;  // of this job, for others
  const std::string network_;
  const Desk desk_;
  JobDirectory directory_;
  std::vector<std::pair<std::string, std::string>> published_;  // for other jobs
  std::list<Link> links_;
  int last_index_ = 0;
};

}  // namespace tmpi::launch
