// JobStart: from node processes that have said hello to a job that runs: hands each its assignment, and collects
// and spreads their addresses.
//
//     kHello   ------->  same version? When all machines are known:
//     kJob     <-------  the job, who runs which rank, its share of its machine's cores, the job's key
//     kAddress ------->  when all have come:
//     kAddresses <-----  everybody's
#pragma once

#include "launch/launcher/heartbeat.hpp"
#include "launch/launcher/job_end.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/options/options.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

class JobStart {
 public:
  /// All must outlive it.
  JobStart(const Settings& settings, const JobPlan& plan, const NodeSet& nodes, JobEnd& end,
           Heartbeat& heartbeat)
      : settings_(settings), plan_(plan), nodes_(nodes), end_(end), heartbeat_(heartbeat) {}

  /// The node processes have been started. Those on this machine get their jobs before they say hello.
  void begin();
  void on_hello(Node& node, const Frame& frame);
  void on_address(Node& node, const Frame& frame);

 private:
  void send_jobs();
  bool key_of_job(net::JobKey& key);

  const Settings& settings_;
  const JobPlan& plan_;
  const NodeSet& nodes_;
  JobEnd& end_;
  Heartbeat& heartbeat_;
  bool jobs_sent_ = false;
  int addresses_ = 0;         // that have come
  std::int64_t workers_ = 0;  // that the node processes that have said may have
};

}  // namespace tmpi::launch
