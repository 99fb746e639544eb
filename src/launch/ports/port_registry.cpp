#include "launch/ports/port_registry.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "mpi.h"
#include "mpi/base/other_jobs.hpp"

namespace tmpi::launch {
namespace {

using Kind = mpi::PortCall::Kind;

constexpr std::string_view kOurs = "tmpi:";  // every job's ports

PortReply done(const PortCaller& caller) {
  PortReply reply;
  reply.to = caller;
  return reply;
}

PortReply refused(const PortCaller& caller, int error, std::string why) {
  PortReply reply = done(caller);
  reply.answer.error = error;
  reply.answer.why = std::move(why);
  return reply;
}

}  // namespace

PortRegistry::PortRegistry(std::uint64_t job) : job_(job), prefix_(fmt::format("{}{:016x}:", kOurs, job)) {}

std::vector<PortReply> PortRegistry::call(const PortCaller& caller, const mpi::PortCall& call) {
  std::vector<PortReply> replies;
  switch (call.kind) {
    case Kind::kOpen:
      replies.push_back(open(caller, call.wide));
      break;
    case Kind::kClose:
      close(caller, call.port, replies);
      break;
    case Kind::kPublish:
      replies.push_back(publish(caller, call));
      break;
    case Kind::kUnpublish:
      replies.push_back(unpublish(caller, call));
      break;
    case Kind::kLookup:
      replies.push_back(look_up(caller, call.name));
      break;
    case Kind::kAccept:
    case Kind::kConnect:
      pair(caller, call, replies);
      break;
    case Kind::kWithdraw:
      withdraw(caller, call.port, replies);
      break;
    case Kind::kOwner:
      replies.push_back(owner(caller, call.port));
      break;
    case Kind::kLeave:
      leave(caller, replies);
      break;
  }
  return replies;
}

PortReply PortRegistry::open(const PortCaller& caller, bool wide) {
  PortReply reply = done(caller);
  Port port;
  port.owner = caller.rank;
  port.number = ++opened_;
  port.wide = wide;
  reply.answer.port = fmt::format("{}{}:{}", prefix_, port.owner, port.number);
  ports_.emplace(reply.answer.port, std::move(port));
  return reply;
}

PortRegistry::Ports::iterator PortRegistry::find(const std::string& port, std::string& why) {
  const auto found = ports_.find(port);
  if (found != ports_.end()) return found;
  if (port.starts_with(prefix_)) {
    why = fmt::format(
        "the port {} is closed: MPI_Close_port has been called, or the rank that opened it has ended", port);
  } else if (port.starts_with(kOurs)) {
    why = fmt::format(
        "the port {} belongs to another job, whose ranks alone can accept at it, close and publish it", port);
  } else {
    why = fmt::format("\"{}\" is no name that MPI_Open_port has given in this job", port);
  }
  return found;
}

void PortRegistry::drop(Ports::iterator port, const char* why, std::vector<PortReply>& replies) {
  for (const auto* waiting : {&port->second.accepting, &port->second.connecting}) {
    for (const PortCaller& caller : *waiting)
      replies.push_back(refused(caller, MPI_ERR_PORT, fmt::format("the port {} {}", port->first, why)));
  }
  ports_.erase(port);
}

void PortRegistry::close(const PortCaller& caller, const std::string& port, std::vector<PortReply>& replies) {
  std::string why;
  const auto found = find(port, why);
  if (found == ports_.end()) {
    replies.push_back(refused(caller, MPI_ERR_PORT, std::move(why)));
  } else if (found->second.owner != caller.rank) {
    replies.push_back(refused(
        caller, MPI_ERR_PORT,
        fmt::format("the port {} was opened by rank {}, who alone can close it", port, found->second.owner)));
  } else {
    drop(found, "has been closed (MPI_Close_port)", replies);
    replies.push_back(done(caller));
  }
}

// A name may stand for anything, such as the address of a socket for MPI_Comm_join; what looks like a port must be one.
PortReply PortRegistry::publish(const PortCaller& caller, const mpi::PortCall& call) {
  if (const auto taken = names_.find(call.name); taken != names_.end())
    return refused(
        caller, MPI_ERR_SERVICE,
        fmt::format("the name \"{}\" is published already, by rank {}", call.name, taken->second.publisher));
  std::string why;
  if (call.port.starts_with(kOurs) && find(call.port, why) == ports_.end())
    return refused(caller, MPI_ERR_PORT, std::move(why));
  names_[call.name] = {caller.rank, call.port, call.wide};
  return done(caller);
}

PortReply PortRegistry::unpublish(const PortCaller& caller, const mpi::PortCall& call) {
  const auto found = names_.find(call.name);
  if (found == names_.end())
    return refused(caller, MPI_ERR_SERVICE, fmt::format("the name \"{}\" is not published", call.name));
  if (found->second.publisher != caller.rank)
    return refused(caller, MPI_ERR_SERVICE,
                   fmt::format("the name \"{}\" was published by rank {}, who alone can take it back",
                               call.name, found->second.publisher));
  if (found->second.port != call.port)
    return refused(caller, MPI_ERR_SERVICE,
                   fmt::format("the name \"{}\" is published for the port {}, not for {}", call.name,
                               found->second.port, call.port));
  names_.erase(found);
  return done(caller);
}

PortReply PortRegistry::look_up(const PortCaller& caller, const std::string& name) const {
  const auto found = names_.find(name);
  if (found == names_.end())
    return refused(caller, MPI_ERR_NAME,
                   fmt::format("nobody in this job has published the name \"{}\"", name));
  PortReply reply = done(caller);
  reply.answer.port = found->second.port;
  return reply;
}

// First come, first served.
void PortRegistry::pair(const PortCaller& caller, const mpi::PortCall& call,
                        std::vector<PortReply>& replies) {
  std::string why;
  const auto found = find(call.port, why);
  if (found == ports_.end()) {
    replies.push_back(refused(caller, MPI_ERR_PORT, std::move(why)));
    return;
  }
  Port& port = found->second;
  if (mpi::of_other_job(caller.rank) && !port.wide) {
    replies.push_back(refused(
        caller, MPI_ERR_PORT,
        fmt::format("the port {} has been opened for ranks of its own job alone (info key tmpi_scope)",
                    call.port)));
    return;
  }
  const bool accepts = call.kind == Kind::kAccept;
  std::deque<PortCaller>& others = accepts ? port.connecting : port.accepting;
  if (others.empty()) {
    (accepts ? port.accepting : port.connecting).push_back(caller);
    PortReply reply = done(caller);
    reply.queued = true;
    reply.answer.peer = port.owner;
    reply.answer.pairing = port.number;
    reply.answer.outside = mpi::of_other_job(caller.rank) || (accepts && port.wide && reachable_);
    replies.push_back(std::move(reply));
    return;
  }
  const PortCaller other = others.front();
  others.pop_front();
  const std::int64_t pairing = ++pairings_;
  for (const auto& [one, peer] : {std::pair(other, caller), std::pair(caller, other)}) {
    if (one.rank == peer.rank) {
      replies.push_back(refused(one, MPI_ERR_COMM,
                                fmt::format("rank {} is at both ends of the port {}: it cannot be connected "
                                            "with itself",
                                            one.rank, call.port)));
      continue;
    }
    PortReply reply = done(one);
    reply.answer.peer = peer.rank;
    reply.answer.pairing = pairing;
    replies.push_back(std::move(reply));
  }
}

// Of a call that is paired already, or refused, the answer is on its way.
void PortRegistry::withdraw(const PortCaller& caller, const std::string& port,
                            std::vector<PortReply>& replies) {
  const auto found = ports_.find(port);
  if (found == ports_.end()) return;
  for (auto* waiting : {&found->second.accepting, &found->second.connecting}) {
    const auto gone = std::erase_if(*waiting, [&](const PortCaller& one) {
      return one.rank == caller.rank && one.request == caller.request;
    });
    if (gone > 0)
      replies.push_back(
          refused(caller, MPI_ERR_PORT,
                  fmt::format("nobody has come to the other end of the port {} within the timeout", port)));
  }
}

PortReply PortRegistry::owner(const PortCaller& caller, const std::string& port) {
  std::string why;
  const auto found = find(port, why);
  if (found == ports_.end()) return refused(caller, MPI_ERR_PORT, std::move(why));
  PortReply reply = done(caller);
  reply.answer.peer = found->second.owner;
  return reply;
}

void PortRegistry::forget_job(int index) {
  for (auto& [name, port] : ports_) {
    for (auto* waiting : {&port.accepting, &port.connecting})
      std::erase_if(*waiting, [&](const PortCaller& one) { return mpi::job_of(one.rank) == index; });
  }
}

std::optional<std::uint64_t> PortRegistry::job_of_port(std::string_view port) {
  constexpr std::size_t kDigits = 16;
  std::uint64_t job = 0;
  if (!port.starts_with(kOurs) || port.size() <= kOurs.size() + kDigits ||
      port[kOurs.size() + kDigits] != ':')
    return {};
  const char* const first = port.data() + kOurs.size();
  const auto [end, error] = std::from_chars(first, first + kDigits, job, 16);
  if (error != std::errc() || end != first + kDigits) return {};
  return job;
}

std::vector<std::pair<std::string, std::string>> PortRegistry::wide_names() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [name, published] : names_) {
    if (published.wide) names.emplace_back(name, published.port);
  }
  return names;
}

void PortRegistry::leave(const PortCaller& caller, std::vector<PortReply>& replies) {
  for (auto next = ports_.begin(); next != ports_.end();) {
    const auto port = next++;
    if (port->second.owner != caller.rank) continue;
    std::erase_if(names_, [&](const auto& name) { return name.second.port == port->first; });
    drop(port, "is closed: the rank that opened it has called MPI_Finalize", replies);
  }
  std::erase_if(names_, [&](const auto& name) { return name.second.publisher == caller.rank; });
  replies.push_back(done(caller));
}

}  // namespace tmpi::launch
