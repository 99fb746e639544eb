#include "launch/launcher/link_calls.hpp"

#include <fmt/core.h>

#include <utility>

#include "mpi.h"
#include "mpi/base/other_jobs.hpp"

namespace tmpi::launch {
namespace {

using Kind = mpi::PortCall::Kind;

// kLinkVerdict: of who connects, and the answer to the first of these.
constexpr std::uint16_t kTaken = 0, kUnwanted = 1, kAgreed = 2, kGone = 3;

std::string nobody_in_time(const std::string& port) {
  return fmt::format("nobody has come to the other end of the port {} within the timeout", port);
}

}  // namespace

void LinkEvents::refuse(int rank, std::int64_t request, const std::string& why) const {
  PortReply reply;
  reply.to = {rank, request};
  reply.answer.error = MPI_ERR_PORT;
  reply.answer.why = why;
  answered(reply);
}

void LinkCalls::begin(int index, const LinkHello& other) {
  index_ = index;
  nodes_ = other.nodes;
  name_ = other.name;
  for (const auto& [rank, request] : take_waiting()) forward(rank, request);
}

void LinkCalls::send_call(int rank, const PortRequest& request) {
  channel_.send(FrameType::kLinkCall, -1, 0, pack(LinkCall{rank, job_.nodes.node_of(rank), request}));
}

void LinkCalls::ask(int rank, const PortRequest& request) {
  if (index_ > 0)
    forward(rank, request);
  else
    waiting_.emplace_back(rank, request);
}

void LinkCalls::forward(int rank, const PortRequest& request) {
  unanswered_[{rank, request.request}] = {
      .request = request, .deadline = Clock::now() + kLinkTime, .paired = {}};
  send_call(rank, request);
}

// Where the pairing is being decided, the answer is on its way.
void LinkCalls::withdraw(int rank, const PortRequest& request) {
  const auto waited = std::erase_if(waiting_, [&](const Waiting& one) {
    return one.first == rank && one.second.request == request.request;
  });
  const auto found = unanswered_.find({rank, request.request});
  if (found != unanswered_.end() && found->second.paired) {
    found->second.withdrawn = true;
    return;
  }
  const auto asked = unanswered_.erase({rank, request.request});
  if (asked > 0) send_call(rank, request);
  if (waited + asked > 0) job_.events.refuse(rank, request.request, nobody_in_time(request.call.port));
}

void LinkCalls::answer(const PortReply& reply) {
  PortReply told = reply;
  told.to.rank = mpi::number_at_home(reply.to.rank);
  if (told.answer.peer >= 0) told.answer.node = job_.nodes.node_of(told.answer.peer);
  channel_.send(FrameType::kLinkReply, -1, 0, pack(told));
}

Result<void> LinkCalls::on_frame(const Frame& frame) {
  const FrameType type = frame.header.type;
  if (type == FrameType::kLinkCall) {
    const Result<LinkCall> call = unpack_link_call(frame.payload);
    const Kind kind = call ? call->request.call.kind : Kind::kConnect;
    if (kind != Kind::kConnect && kind != Kind::kWithdraw && kind != Kind::kOwner)
      return Failure{"it has asked for what only ranks of the same job may do"};
  }
  const bool good = index_ > 0 && (type == FrameType::kLinkCall    ? on_call(frame.payload)
                                   : type == FrameType::kLinkReply ? on_reply(frame.payload)
                                                                   : on_verdict(frame));
  if (!good) return Failure{"it has sent a message that makes no sense"};
  return {};
}

bool LinkCalls::on_call(std::string_view payload) {
  const Result<LinkCall> call = unpack_link_call(payload);
  if (!call || call->rank >= mpi::kMostRanks || call->node >= nodes_) return false;
  node_of_[call->rank] = call->node;
  job_.events.asked(mpi::number_here(index_, call->rank), call->request);
  return true;
}

int LinkCalls::node_of(int rank) const {
  const auto found = node_of_.find(mpi::number_at_home(rank));
  return found != node_of_.end() ? found->second : -1;
}

bool LinkCalls::on_reply(std::string_view payload) {
  Result<PortReply> reply = unpack_port_reply(payload);
  if (!reply || reply->answer.peer >= mpi::kMostRanks || reply->answer.node >= nodes_) return false;
  const auto asked = unanswered_.find({reply->to.rank, reply->to.request});
  const bool known = asked != unanswered_.end();
  const bool paired = !reply->queued && reply->answer.error == MPI_SUCCESS && reply->answer.pairing > 0;
  if (paired)
    channel_.send(FrameType::kLinkVerdict, -1, known ? kTaken : kUnwanted,
                  pack(LinkVerdict{reply->to.rank, reply->to.request}));
  if (!known) return true;
  asked->second.deadline.reset();
  if (reply->answer.peer >= 0) reply->answer.peer = mpi::number_here(index_, reply->answer.peer);
  if (paired) {
    asked->second.paired = *std::move(reply);
    return true;
  }
  if (!reply->queued) unanswered_.erase(asked);
  job_.events.answered(*reply);
  return true;
}

bool LinkCalls::on_verdict(const Frame& frame) {
  const Result<LinkVerdict> verdict = unpack_link_verdict(frame.payload);
  if (!verdict || verdict->rank >= mpi::kMostRanks) return false;
  const std::uint16_t detail = frame.header.detail;
  if (detail == kAgreed || detail == kGone) return on_agreement(*verdict, detail == kAgreed);
  const bool there =
      job_.events.decided(mpi::number_here(index_, verdict->rank), verdict->request, detail == kTaken);
  if (detail == kTaken) channel_.send(FrameType::kLinkVerdict, -1, there ? kAgreed : kGone, frame.payload);
  return true;
}

// Whoever has gone from the port, another may come: who connects waits for that.
bool LinkCalls::on_agreement(const LinkVerdict& verdict, bool there) {
  const auto found = unanswered_.find({verdict.rank, verdict.request});
  if (found == unanswered_.end() || !found->second.paired) return false;
  const Asked asked = std::move(found->second);
  unanswered_.erase(found);
  if (there)
    job_.events.answered(*asked.paired);
  else if (asked.withdrawn)
    job_.events.refuse(verdict.rank, verdict.request, nobody_in_time(asked.request.call.port));
  else
    forward(verdict.rank, asked.request);
  return true;
}

Deadline LinkCalls::deadline() const {
  Deadline first;
  for (const auto& [whose, asked] : unanswered_) {
    if (asked.deadline && (!first || *asked.deadline < *first)) first = asked.deadline;
  }
  return first;
}

void LinkCalls::extend(Clock::duration pause) {
  for (auto& [whose, asked] : unanswered_) {
    if (asked.deadline) *asked.deadline += pause;
  }
}

// Their tmpirun answers each call at once. Should it wake up, it finds the call taken back.
void LinkCalls::give_up(Clock::time_point now) {
  for (auto next = unanswered_.begin(); next != unanswered_.end();) {
    const auto [rank, number] = next->first;
    if (!has_passed(next->second.deadline, now)) {
      ++next;
      continue;
    }
    PortRequest request = std::move(next->second.request);
    next = unanswered_.erase(next);
    request.call.kind = Kind::kWithdraw;
    send_call(rank, request);
    job_.events.refuse(rank, number,
                       fmt::format("the job {} has not answered within {} seconds; is its tmpirun stopped?",
                                   name_, kLinkTime.count()));
  }
}

void LinkCalls::refuse_all(const std::string& why) {
  const auto waiting = take_waiting();
  const auto unanswered = std::exchange(unanswered_, {});
  for (const auto& [rank, request] : waiting) job_.events.refuse(rank, request.request, why);
  for (const auto& [whose, asked] : unanswered) job_.events.refuse(whose.first, whose.second, why);
}

}  // namespace tmpi::launch
