// JobLinks: tmpirun's part in connections with other jobs (docs/design/dynamic-processes.md, "Between jobs"): finds their
// tmpiruns, and has a link with each (job_link.hpp), by which the node processes of both make their ways to each other,
// and ranks ask about ports. tmpirun's one thread; never blocks but in leave().
#pragma once

#include <poll.h>

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/job_link.hpp"
#include "launch/launcher/link_calls.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/neighbours/job_directory.hpp"

namespace tmpi::launch {

class JobLinks final : private JobLink::Others {
 public:
  /// `nodes` must outlive it. `job`: the number of this job's ports; `program`: what it runs, for messages.
  JobLinks(const NodeSet& nodes, std::uint64_t job, const std::string& program, LinkEvents events);

  /// Whether a job such as this one can be connected with others. Failure: what it is or has, without "it".
  Result<void> possible() const;
  /// Other jobs may find this one, and what it has published. Failure: why not; ports are for its own ranks then.
  Result<void> announce();
  Result<void> publish(const std::vector<std::pair<std::string, std::string>>& names);
  Result<std::string> look_up(std::string_view name);

  /// What a rank of this job asks another job; the answer comes to LinkEvents::answered, in any case.
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
  bool yields_to(const LinkHello& hello) override;
  std::vector<LinkCalls::Waiting> take_over(const JobLink& called) override;
  Result<void> room() const override;
  int next_index() override { return ++last_index_; }
  JobLink::Others& others() { return *this; }

  JobLink* with_job(std::uint64_t job);
  JobLink* with_index(int index);
  Result<JobLink*> call(std::uint64_t job, const std::string& port);

  const LinkedJob own_;
  JobDirectory directory_;
  std::vector<std::pair<std::string, std::string>> published_;  // for other jobs
  std::list<JobLink> links_;
  int last_index_ = 0;
};

}  // namespace tmpi::launch
