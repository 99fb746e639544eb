#include "launch/launcher/port_server.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "launch/ports/port_wire.hpp"
#include "mpi.h"
#include "mpi/base/other_jobs.hpp"

namespace tmpi::launch {

using Kind = mpi::PortCall::Kind;

namespace {
constexpr std::chrono::seconds kVerdictTime{10};  // for another job's tmpirun
}

PortServer::Open::Open(std::uint64_t job, PortServer& ports)
    : registry(job),
      links(ports.nodes_, job, ports.program_,
            {.asked = [&ports](int rank, const PortRequest& request) { ports.call(rank, request); },
             .answered = [&ports](const PortReply& reply) { ports.deliver(reply); },
             .decided =
                 [&ports](int rank, std::int64_t request, bool taken) {
                   return ports.decide({rank, request}, taken);
                 },
             .ended = [&ports](int index) { ports.forget_job(index); }}) {}

bool PortServer::on_call(const Node& node, const Frame& frame) {
  const Result<PortRequest> request = unpack_port_request(frame.payload);
  const int rank = frame.header.rank;
  if (!request || rank < 0 || static_cast<std::size_t>(rank) >= plan_.node_of.size() ||
      nodes_.node_of(rank) != node.number())
    return false;
  if (!open_) open_ = std::make_unique<Open>(plan_.ports, *this);
  const std::optional<std::uint64_t> job = PortRegistry::job_of_port(request->call.port);
  const Kind kind = request->call.kind;
  const bool may_be_theirs = kind == Kind::kConnect || kind == Kind::kOwner || kind == Kind::kWithdraw;
  if (may_be_theirs && job && *job != open_->registry.job())
    open_->links.ask(*job, rank, *request);
  else if (kind == Kind::kLookup)
    look_up(rank, *request);
  else
    call(rank, *request);
  return true;
}

void PortServer::call(int rank, const PortRequest& request) {
  const Kind kind = request.call.kind;
  if (kind == Kind::kOpen && request.call.wide) open_to_others();
  const auto names = open_->registry.wide_names();
  std::vector<PortReply> replies = open_->registry.call({rank, request.request}, request.call);
  // Published when the call returns.
  if (const auto now = open_->registry.wide_names(); now != names) {
    if (const Result<void> published = open_->links.publish(now); !published && kind == Kind::kPublish)
      say_unreachable(fmt::format("the name \"{}\" is published for this job alone", request.call.name),
                      published.message());
  }
  if (kind == Kind::kWithdraw) let_go(rank, request);
  hold(request.call.port, replies);
  for (PortReply& reply : replies) answer(std::move(reply));
}

// Who accepts hears of a rank of another job when that has taken it: it may have gone, its tmpirun may be stopped.
void PortServer::hold(const std::string& port, std::vector<PortReply>& replies) {
  const auto pairs = [](const PortReply& reply) {
    return !reply.queued && reply.answer.error == MPI_SUCCESS && reply.answer.pairing > 0;
  };
  const auto theirs = std::ranges::find_if(
      replies, [&](const PortReply& reply) { return pairs(reply) && mpi::of_other_job(reply.to.rank); });
  const auto ours = std::ranges::find_if(
      replies, [&](const PortReply& reply) { return pairs(reply) && mpi::of_other_job(reply.answer.peer); });
  if (theirs == replies.end() || ours == replies.end()) return;
  held_[{theirs->to.rank, theirs->to.request}] = {*ours, port, Clock::now() + kVerdictTime};
  replies.erase(ours);
}

bool PortServer::decide(const PortCaller& caller, bool taken) {
  const auto found = held_.find({caller.rank, caller.request});
  if (found == held_.end()) return false;
  const Held held = std::move(found->second);
  held_.erase(found);
  if (!held.deadline) return false;
  taken ? answer(held.reply) : accept_again(held);
  return true;
}

// Who accepts has waited long enough: for the verdict nobody waits any more.
void PortServer::let_go(int rank, const PortRequest& request) {
  for (auto& [caller, held] : held_) {
    if (!held.deadline || held.reply.to.rank != rank || held.reply.to.request != request.request) continue;
    held.deadline.reset();
    PortReply refusal;
    refusal.to = held.reply.to;
    refusal.answer.error = MPI_ERR_PORT;
    refusal.answer.why = fmt::format(
        "nobody has come to the other end of the port {} within the timeout, but a rank of another job whose "
        "tmpirun has not said whether it still waits",
        held.port);
    return deliver(refusal);
  }
}

// A tmpirun that is stopped holds nobody up: another rank may be there, or come.
void PortServer::give_up_verdicts() {
  const auto now = Clock::now();
  std::vector<Held> late;
  for (auto& [caller, held] : held_) {
    if (!has_passed(held.deadline, now)) continue;
    late.push_back(held);
    held.deadline.reset();
  }
  for (const Held& held : late) accept_again(held);
}

Deadline PortServer::deadline() const {
  Deadline first = open_ ? open_->links.deadline() : Deadline();
  for (const auto& [caller, held] : held_) {
    if (held.deadline && (!first || *held.deadline < *first)) first = held.deadline;
  }
  return first;
}

void PortServer::on_deadline() {
  give_up_verdicts();
  if (open_) open_->links.on_deadline();
}

void PortServer::extend(Clock::duration pause) {
  if (open_) open_->links.extend(pause);
  for (auto& [caller, held] : held_) {
    if (held.deadline) *held.deadline += pause;
  }
}

// A node process does not mind being told again that the rank waits.
void PortServer::accept_again(const Held& held) {
  PortRequest request{.request = held.reply.to.request, .call = {}};
  request.call.kind = Kind::kAccept;
  request.call.port = held.port;
  call(held.reply.to.rank, request);
}

void PortServer::forget_job(int index) {
  open_->registry.forget_job(index);
  std::vector<PortCaller> theirs;
  for (const auto& [caller, held] : held_) {
    if (mpi::job_of(caller.first) == index) theirs.push_back({caller.first, caller.second});
  }
  for (const PortCaller& caller : theirs) (void)decide(caller, false);
}

// Without others the port is there, for this job's ranks.
void PortServer::open_to_others() {
  if (const Result<void> announced = open_->links.announce(); announced)
    open_->registry.set_reachable();
  else if (!std::exchange(said_, true))
    say_unreachable("ports are for ranks of this job alone", announced.message());
}

// That such a job cannot be connected with others is no surprise; what keeps any other from it is one.
void PortServer::say_unreachable(const std::string& what, const std::string& why) {
  const bool can = static_cast<bool>(open_->links.possible());
  say_(can ? Weight::kWarning : Weight::kDetail, fmt::format("{}: {}{}", what, can ? "" : "it ", why));
}

void PortServer::look_up(int rank, const PortRequest& request) {
  PortReply reply = open_->registry.call({rank, request.request}, request.call).back();
  if (reply.answer.error == MPI_ERR_NAME && request.call.wide) {
    if (Result<std::string> found = open_->links.look_up(request.call.name); found) {
      reply.answer.error = MPI_SUCCESS;
      reply.answer.why.clear();
      reply.answer.port = *std::move(found);
    } else {
      reply.answer.why = found.message();
    }
  }
  answer(std::move(reply));
}

void PortServer::answer(PortReply reply) {
  if (mpi::of_other_job(reply.to.rank)) return open_->links.answer(reply);
  if (reply.answer.error == MPI_SUCCESS && mpi::of_other_job(reply.answer.peer))
    reply.answer.node = open_->links.node_of(reply.answer.peer);
  deliver(reply);
}

void PortServer::deliver(const PortReply& reply) {
  Node& node = nodes_.of_rank(reply.to.rank);
  if (node.running() && !node.done) node.send(FrameType::kPortReply, 0, pack(reply));
}

}  // namespace tmpi::launch
