#include "launch/launcher/job_links.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "launch/neighbours/own_socket.hpp"
#include "launch/system/version.hpp"
#include "launch/wire/hello.hpp"
#include "mpi.h"
#include "mpi/base/other_jobs.hpp"

namespace tmpi::launch {
namespace {

constexpr std::chrono::seconds kByeTime{1};

LinkHello hello_of(std::uint64_t job, const std::string& program, int nodes) {
  return {kWireVersion,
          kVersion,
          own_hello().network,
          job,
          fmt::format("{} (tmpirun's process {})", program, getpid()),
          nodes};
}

}  // namespace

JobLinks::JobLinks(const NodeSet& nodes, std::uint64_t job, const std::string& program, LinkEvents events)
    : own_{nodes, std::move(events), hello_of(job, program, nodes.planned())},
      directory_(job, own_.hello.network, own_.hello.name) {}

// Ways go over loopback, and node processes of others have no secrets from tmpirun.
Result<void> JobLinks::possible() const {
  for (const auto& node : own_.nodes) {
    if (node->remote() || node->process().adopted())
      return Failure{
          "has node processes on several machines, or that were started by others: tmpi connects jobs whose "
          "node processes tmpirun has started on its own machine"};
    if (node->done) return Failure{"has node processes whose ranks have all ended"};
  }
  return {};
}

Result<void> JobLinks::room() const {
  if (Result<void> can = possible(); !can) return can;
  if (last_index_ < mpi::kMostOtherJobs) return {};
  return Failure{fmt::format("has been connected with {} others, and cannot be with more", last_index_)};
}

Result<void> JobLinks::announce() {
  if (Result<void> can = possible(); !can) return can;
  return directory_.announce();
}

Result<void> JobLinks::publish(const std::vector<std::pair<std::string, std::string>>& names) {
  // What has been published is taken back all the same: nobody is to find a port that has been closed.
  Result<void> can = possible();
  auto wanted = names;
  if (!can)
    std::erase_if(wanted,
                  [&](const auto& name) { return std::ranges::find(published_, name) == published_.end(); });
  if (wanted != published_) {
    if (Result<void> written = directory_.publish(wanted); !written) return written;
    published_ = std::move(wanted);
  }
  return can;
}

Result<std::string> JobLinks::look_up(std::string_view name) {
  return directory_.look_up(name);
}

JobLink* JobLinks::with_job(std::uint64_t job) {
  const auto found = std::ranges::find(links_, job, &JobLink::job);
  return job != 0 && found != links_.end() ? &*found : nullptr;
}

JobLink* JobLinks::with_index(int index) {
  const auto found = std::ranges::find(links_, index, &JobLink::index);
  return index > 0 && found != links_.end() ? &*found : nullptr;
}

// Of two that call each other, the call of the one with the lower number counts.
bool JobLinks::yields_to(const LinkHello& hello) {
  const JobLink* const mine = with_job(hello.job);
  return mine == nullptr || mine->has_yielded() || (mine->calls() && hello.job < own_.hello.job);
}

std::vector<LinkCalls::Waiting> JobLinks::take_over(const JobLink& called) {
  std::vector<LinkCalls::Waiting> waiting;
  for (JobLink& mine : links_) {
    if (&mine == &called || mine.job() != called.job()) continue;
    waiting = mine.calls_between().take_waiting();
    mine.drop();
  }
  return waiting;
}

// Failure: why there is no connection with that job.
Result<JobLink*> JobLinks::call(std::uint64_t job, const std::string& port) {
  if (const Result<void> can = possible(); !can)
    return Failure{"the port is of another job, and this one " + can.message()};
  if (const Result<void> can = room(); !can) return Failure{"this job " + can.message()};
  Result<Fd> socket = directory_.call(job);
  if (!socket) return Failure{fmt::format("the job of the port {} {}", port, socket.message())};
  return &links_.emplace_back(own_, others(), *std::move(socket), job);
}

void JobLinks::ask(std::uint64_t job, int rank, const PortRequest& request) {
  JobLink* link = with_job(job);
  if (request.call.kind == mpi::PortCall::Kind::kWithdraw) {
    if (link != nullptr) link->calls_between().withdraw(rank, request);
    return;
  }
  if (link == nullptr) {
    const Result<JobLink*> called = call(job, request.call.port);
    if (!called) return own_.events.refuse(rank, request.request, called.message());
    link = *called;
  }
  link->calls_between().ask(rank, request);
}

void JobLinks::answer(const PortReply& reply) {
  if (JobLink* const link = with_index(mpi::job_of(reply.to.rank))) link->calls_between().answer(reply);
}

int JobLinks::node_of(int rank) {
  JobLink* const link = with_index(mpi::job_of(rank));
  return link != nullptr ? link->calls_between().node_of(rank) : -1;
}

bool JobLinks::on_frame(const Node& node, const Frame& frame) {
  const Result<WayAnswer> answer = unpack_way_answer(frame.payload);
  if (!answer) return false;
  if (JobLink* const link = with_index(answer->index))  // else it has ended meanwhile
    link->on_answer(static_cast<std::size_t>(node.number()), frame.header.type, *answer);
  return true;
}

void JobLinks::watch(std::vector<pollfd>& requests) const {
  requests.push_back({directory_.listener().get(), POLLIN, 0});
  for (const JobLink& link : links_) {
    const short events = static_cast<short>(link.wants_to_send() ? POLLIN | POLLOUT : POLLIN);
    requests.push_back({link.descriptor(), events, 0});
  }
}

void JobLinks::serve(const pollfd* requests, std::size_t count) {
  const pollfd& listener = requests[0];
  std::size_t next = 1;
  for (JobLink& link : links_) {
    if (next == count) break;  // a new one
    const short what = requests[next++].revents;
    if (link.descriptor() < 0 || what == 0) continue;
    if ((what & POLLOUT) != 0) link.flush();
    if ((what & (POLLIN | POLLHUP | POLLERR)) != 0) link.receive();
  }
  if (listener.revents != 0) {
    for (Fd socket; (socket = accept_own(directory_.listener()));)
      links_.emplace_back(own_, others(), std::move(socket));
  }
  std::erase_if(links_, [](const JobLink& link) { return link.over(); });
}

Deadline JobLinks::deadline() const {
  Deadline first;
  for (const JobLink& link : links_) {
    const Deadline one = link.deadline();
    if (one && (!first || *one < *first)) first = one;
  }
  return first;
}

void JobLinks::extend(Clock::duration pause) {
  for (JobLink& link : links_) link.extend(pause);
}

void JobLinks::on_deadline() {
  const auto now = Clock::now();
  for (JobLink& link : links_) link.on_deadline(now);
}

void JobLinks::leave(const std::string& why) {
  const auto deadline = Clock::now() + kByeTime;
  for (JobLink& link : links_) link.leave(why, deadline);
}

}  // namespace tmpi::launch
