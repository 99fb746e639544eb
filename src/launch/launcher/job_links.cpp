#include "launch/launcher/job_links.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "launch/system/version.hpp"
#include "launch/wire/frames.hpp"
#include "launch/wire/hello.hpp"
#include "mpi.h"
#include "mpi/base/other_jobs.hpp"

namespace tmpi::launch {
namespace {

constexpr std::chrono::seconds kLinkTime{10};  // for both jobs to make their ways to each other
constexpr std::chrono::seconds kByeTime{1};
constexpr std::size_t kRead = 64u << 10;

bool all_known(const std::vector<std::optional<std::string>>& addresses) {
  return std::ranges::all_of(addresses, [](const auto& address) { return address.has_value(); });
}

std::string nobody_in_time(const std::string& port) {
  return fmt::format("nobody has come to the other end of the port {} within the timeout", port);
}

// WayEnding::why, which is said of the other job.
std::string parted(const std::string& why) {
  return "is not connected with it any more: " + why;
}

constexpr std::uint16_t kCrossed = 1;  // kLinkRefused: both have called
constexpr std::uint16_t kBadly = 1;    // kLinkBye
// kLinkVerdict: of who connects, and the answer to the first of these.
constexpr std::uint16_t kTaken = 0, kUnwanted = 1, kAgreed = 2, kGone = 3;

}  // namespace

// A call that the other job has not answered for good.
struct Asked {
  PortRequest request;
  Deadline deadline;                // for any answer
  std::optional<PortReply> paired;  // the verdict has been sent, and its answer is to come
  bool withdrawn = false;           // since then
};

struct JobLinks::Link {
  int fd = -1;
  bool called = false;  // by this job; the other one draws the key
  FrameReader in;
  std::string out;
  std::optional<LinkHello> other;
  std::uint64_t wanted = 0;  // the job that has been called, as long as it has not said who it is
  bool crossed = false;      // the other one calls, and is to be waited for
  int index = 0;             // of the other job; 0: no way has been prepared
  net::JobKey key;
  std::vector<std::optional<std::string>> addresses;  // of this job's node processes
  std::optional<WayAddresses> theirs;
  std::vector<bool> joined;
  bool joining = false, ready = false, they_are_ready = false, up = false;
  Deadline deadline;  // to be up
  std::string lost;   // a node process has lost one of theirs: until the deadline something may explain it
  std::vector<std::pair<int, PortRequest>> waiting;          // until it is up
  std::map<std::pair<int, std::int64_t>, Asked> unanswered;  // by rank of this job and number of its request
  std::map<int, int> node_of;                                // of their ranks that have asked something
  bool over = false;

  bool is_for(std::uint64_t job) const { return !over && (other ? other->job : wanted) == job; }
};

JobLinks::JobLinks(const JobPlan& plan, const NodeSet& nodes, std::uint64_t job, const std::string& program,
                   Desk desk)
    : plan_(plan),
      nodes_(nodes),
      job_(job),
      name_(fmt::format("{} (tmpirun's process {})", program, getpid())),
      network_(own_hello().network),
      desk_(std::move(desk)),
      directory_(job, network_, name_) {}

JobLinks::~JobLinks() {
  for (const Link& link : links_) {
    if (link.fd >= 0) close(link.fd);
  }
}

// Ways go over loopback, and node processes of others have no secrets from tmpirun.
Result<void> JobLinks::possible() const {
  for (const auto& node : nodes_) {
    if (node->remote() || node->process().adopted())
      return Failure{
          "has node processes on several machines, or that were started by others: tmpi connects jobs whose "
          "node processes tmpirun has started on its own machine"};
    if (node->done) return Failure{"has node processes whose ranks have all ended"};
  }
  return {};
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

LinkHello JobLinks::own_hello_to_jobs() const {
  return {kWireVersion, kVersion, network_, job_, name_, nodes_.planned()};
}

JobLinks::Link* JobLinks::with_job(std::uint64_t job) {
  const auto found = std::ranges::find_if(links_, [&](const Link& link) { return link.is_for(job); });
  return found != links_.end() ? &*found : nullptr;
}

JobLinks::Link* JobLinks::with_index(int index) {
  const auto found =
      std::ranges::find_if(links_, [&](const Link& link) { return !link.over && link.index == index; });
  return index > 0 && found != links_.end() ? &*found : nullptr;
}

JobLinks::Link& JobLinks::add(int fd, bool called) {
  Link& link = links_.emplace_back();
  link.fd = fd;
  link.called = called;
  link.deadline = Clock::now() + kLinkTime;
  return link;
}

// ---- what ranks ask

void JobLinks::ask(std::uint64_t job, int rank, const PortRequest& request) {
  Link* link = with_job(job);
  if (request.call.kind == mpi::PortCall::Kind::kWithdraw) {
    if (link != nullptr) withdraw(*link, rank, request);
    return;
  }
  if (link == nullptr) {
    const auto cannot = [&](const std::string& why) {
      refuse_call(rank, request.request, fmt::format("the job of the port {} {}", request.call.port, why));
    };
    if (const Result<void> can = possible(); !can)
      return refuse_call(rank, request.request, "the port is of another job, and this one " + can.message());
    if (last_index_ >= mpi::kMostOtherJobs)
      return refuse_call(
          rank, request.request,
          fmt::format("this job has been connected with {} others, and cannot be with more", last_index_));
    const Result<int> fd = directory_.call(job);
    if (!fd) return cannot(fd.message());
    link = &add(*fd, true);
    link->wanted = job;
    send(*link, FrameType::kLinkHello, 0, pack(own_hello_to_jobs()));
  }
  if (link->up)
    forward(*link, rank, request);
  else
    link->waiting.emplace_back(rank, request);
}

// The answer comes from here: the other tmpirun may be stopped. Without one the answer is on its way.
void JobLinks::withdraw(Link& link, int rank, const PortRequest& request) {
  const auto waited = std::erase_if(link.waiting, [&](const auto& one) {
    return one.first == rank && one.second.request == request.request;
  });
  const auto found = link.unanswered.find({rank, request.request});
  if (found != link.unanswered.end() && found->second.paired) {
    found->second.withdrawn = true;
    return;
  }
  const auto asked = link.unanswered.erase({rank, request.request});
  if (asked > 0) send(link, FrameType::kLinkCall, 0, pack(LinkCall{rank, nodes_.node_of(rank), request}));
  if (waited + asked > 0) refuse_call(rank, request.request, nobody_in_time(request.call.port));
}

void JobLinks::forward(Link& link, int rank, const PortRequest& request) {
  link.unanswered[{rank, request.request}] = {
      .request = request, .deadline = Clock::now() + kLinkTime, .paired = {}};
  send(link, FrameType::kLinkCall, 0, pack(LinkCall{rank, nodes_.node_of(rank), request}));
}

void JobLinks::refuse_call(int rank, std::int64_t request, const std::string& why) {
  PortReply reply;
  reply.to = {rank, request};
  reply.answer.error = MPI_ERR_PORT;
  reply.answer.why = why;
  desk_.answered(reply);
}

void JobLinks::answer(const PortReply& reply) {
  Link* const link = with_index(mpi::job_of(reply.to.rank));
  if (link == nullptr) return;
  PortReply told = reply;
  told.to.rank = mpi::number_at_home(reply.to.rank);
  if (told.answer.peer >= 0) told.answer.node = nodes_.node_of(told.answer.peer);
  send(*link, FrameType::kLinkReply, 0, pack(told));
}

void JobLinks::on_call(Link& link, std::string_view payload) {
  using Kind = mpi::PortCall::Kind;
  const Result<LinkCall> call = unpack_link_call(payload);
  if (!call || call->rank >= mpi::kMostRanks || call->node >= link.other->nodes || !link.ready)
    return refuse(link, "it has sent a message that makes no sense");
  const Kind kind = call->request.call.kind;
  if (kind != Kind::kConnect && kind != Kind::kWithdraw && kind != Kind::kOwner)
    return refuse(link, "it has asked for what only ranks of the same job may do");
  link.node_of[call->rank] = call->node;
  desk_.asked(mpi::number_here(link.index, call->rank), call->request);
}

int JobLinks::node_of(int rank) {
  const Link* const link = with_index(mpi::job_of(rank));
  if (link == nullptr) return -1;
  const auto found = link->node_of.find(mpi::number_at_home(rank));
  return found != link->node_of.end() ? found->second : -1;
}

void JobLinks::on_reply(Link& link, std::string_view payload) {
  Result<PortReply> reply = unpack_port_reply(payload);
  if (!reply || reply->answer.peer >= mpi::kMostRanks || reply->answer.node >= link.other->nodes)
    return refuse(link, "it has sent a message that makes no sense");
  const auto asked = link.unanswered.find({reply->to.rank, reply->to.request});
  const bool known = asked != link.unanswered.end();
  const bool paired = !reply->queued && reply->answer.error == MPI_SUCCESS && reply->answer.pairing > 0;
  if (paired)
    send(link, FrameType::kLinkVerdict, known ? kTaken : kUnwanted,
         pack(LinkVerdict{reply->to.rank, reply->to.request}));
  if (!known) return;
  asked->second.deadline.reset();
  if (reply->answer.peer >= 0) reply->answer.peer = mpi::number_here(link.index, reply->answer.peer);
  if (paired) {
    asked->second.paired = *std::move(reply);
    return;
  }
  if (!reply->queued) link.unanswered.erase(asked);
  desk_.answered(*reply);
}

void JobLinks::on_verdict(Link& link, const Frame& frame) {
  const Result<LinkVerdict> verdict = unpack_link_verdict(frame.payload);
  if (!verdict || verdict->rank >= mpi::kMostRanks || link.index == 0)
    return refuse(link, "it has sent a message that makes no sense");
  const std::uint16_t detail = frame.header.detail;
  if (detail == kAgreed || detail == kGone) return on_agreement(link, *verdict, detail == kAgreed);
  const bool there =
      desk_.decided(mpi::number_here(link.index, verdict->rank), verdict->request, detail == kTaken);
  if (detail == kTaken) send(link, FrameType::kLinkVerdict, there ? kAgreed : kGone, frame.payload);
}

// Whoever has gone from the port, another may come: who connects waits for that.
void JobLinks::on_agreement(Link& link, const LinkVerdict& verdict, bool there) {
  const auto found = link.unanswered.find({verdict.rank, verdict.request});
  if (found == link.unanswered.end() || !found->second.paired)
    return refuse(link, "it has sent a message that makes no sense");
  const Asked asked = std::move(found->second);
  link.unanswered.erase(found);
  if (there)
    desk_.answered(*asked.paired);
  else if (asked.withdrawn)
    refuse_call(verdict.rank, verdict.request, nobody_in_time(asked.request.call.port));
  else
    forward(link, verdict.rank, asked.request);
}

// ---- how a link comes to be

void JobLinks::on_hello(Link& link, std::string_view payload) {
  if (link.other) return refuse(link, "it has said hello twice");
  Result<LinkHello> hello = unpack_link_hello(payload);
  if (!hello) return refuse(link, hello.message());
  if (hello->wire_version != kWireVersion || hello->version != kVersion)
    return refuse(
        link,
        fmt::format("the two jobs run different versions of tmpi, {} and {}; only the same are connected",
                    kVersion, hello->version));
  if (hello->network != network_)
    return refuse(link,
                  "the two jobs are on different machines, or in containers with networks of their own");
  if (hello->job == job_) return refuse(link, "a job cannot be connected with itself");
  if (link.called && hello->job != link.wanted) return refuse(link, "another job answers in its place");
  if (!link.called && !make_room_for(*hello)) return refuse(link, "both jobs call each other", kCrossed);
  link.other = *std::move(hello);
  if (link.called) return;
  take_over(link);
  if (const Result<void> can = possible(); !can) return refuse_for_own(link, can.message());
  if (last_index_ >= mpi::kMostOtherJobs)
    return refuse_for_own(
        link, fmt::format("has been connected with {} others, and cannot be with more", last_index_));
  Result<net::JobKey> key = net::JobKey::draw();
  if (!key) return refuse(link, key.message());
  link.key = *std::move(key);
  send(link, FrameType::kLinkHello, 0, pack(own_hello_to_jobs()));
  // Between processes of one user, through the kernel alone.
  std::string bytes = pack(link.key);
  send(link, FrameType::kLinkKey, 0, bytes);
  net::wipe(bytes);
  prepare(link);
}

// Of two that call each other, the call of the one with the lower number counts. False: ours does.
bool JobLinks::make_room_for(const LinkHello& hello) {
  const Link* const mine = with_job(hello.job);
  return mine == nullptr || mine->crossed || (mine->called && !mine->other && hello.job < job_);
}

// What waits for a call of this job's own goes by the call that has come.
void JobLinks::take_over(Link& link) {
  for (Link& mine : links_) {
    if (&mine == &link || !mine.is_for(link.other->job)) continue;
    link.waiting = std::exchange(mine.waiting, {});
    drop(mine);
  }
}

void JobLinks::on_key(Link& link, std::string_view payload) {
  Result<net::JobKey> key = unpack_link_key(payload);
  if (!key || !link.called || !link.other || link.index != 0)
    return refuse(link, "it has sent a message that makes no sense");
  link.key = *std::move(key);
  prepare(link);
}

// The node processes of the job that has called come first in the count of both.
void JobLinks::prepare(Link& link) {
  link.index = ++last_index_;
  link.addresses.assign(static_cast<std::size_t>(nodes_.planned()), std::nullopt);
  link.joined.assign(link.addresses.size(), false);
  WayOrder order;
  order.index = link.index;
  order.other_job = link.other->job;
  order.other_name = link.other->name;
  order.other_nodes = link.other->nodes;
  order.first = link.called ? 0 : link.other->nodes;
  order.other_first = link.called ? nodes_.planned() : 0;
  order.key = link.key;
  link.key = {};
  std::string payload = pack(order);
  tell_nodes(FrameType::kWayPrepare, payload);
  net::wipe(payload);
}

bool JobLinks::on_frame(const Node& node, const Frame& frame) {
  const Result<WayAnswer> answer = unpack_way_answer(frame.payload);
  if (!answer) return false;
  Link* const link = with_index(answer->index);
  if (link == nullptr) return true;  // it has ended meanwhile
  const auto number = static_cast<std::size_t>(node.number());
  if (frame.header.type == FrameType::kWayLost) {
    if (link->lost.empty()) {
      link->lost = answer->problem;
      link->deadline = Clock::now() + kBetterCause;
    }
  } else if (!answer->problem.empty()) {
    refuse_for_own(*link, answer->problem);
  } else if (frame.header.type == FrameType::kWayPrepared) {
    link->addresses[number] = answer->address;
    if (!all_known(link->addresses)) return true;
    send(*link, FrameType::kLinkAddresses, 0, pack(own_addresses(*link)));
    join_when_known(*link);
  } else {
    link->joined[number] = true;
    if (std::ranges::find(link->joined, false) != link->joined.end() || link->ready) return true;
    link->ready = true;
    send(*link, FrameType::kLinkReady, 0, {});
    up_when_ready(*link);
  }
  return true;
}

WayAddresses JobLinks::own_addresses(const Link& link) const {
  WayAddresses own;
  for (const auto& node : nodes_) {
    own.addresses.push_back(*link.addresses[static_cast<std::size_t>(node->number())]);
    own.hosts.push_back(node->host());
  }
  return own;
}

void JobLinks::join_when_known(Link& link) {
  if (!link.theirs || link.joining || link.addresses.empty() || !all_known(link.addresses)) return;
  link.joining = true;
  const WayAddresses own = own_addresses(link);
  WayAddresses all = link.called ? own : *link.theirs;
  const WayAddresses& rest = link.called ? *link.theirs : own;
  all.index = link.index;
  all.addresses.insert(all.addresses.end(), rest.addresses.begin(), rest.addresses.end());
  all.hosts.insert(all.hosts.end(), rest.hosts.begin(), rest.hosts.end());
  tell_nodes(FrameType::kWayJoin, pack(all));
}

void JobLinks::up_when_ready(Link& link) {
  if (!link.ready || !link.they_are_ready || link.up) return;
  link.up = true;
  if (link.lost.empty()) link.deadline.reset();
  for (const auto& [rank, request] : std::exchange(link.waiting, {})) forward(link, rank, request);
}

void JobLinks::on_frame(Link& link, const Frame& frame) {
  if (frame.header.type == FrameType::kLinkHello) return on_hello(link, frame.payload);
  if (frame.header.type == FrameType::kLinkRefused) {
    if (frame.header.detail == kCrossed && link.called && !link.other) {
      link.crossed = true;
      close(std::exchange(link.fd, -1));
      return;
    }
    const std::string why(frame.payload);
    return end(link, why, parted(why));
  }
  if (!link.other) return refuse(link, "it has not said who it is");
  switch (frame.header.type) {
    case FrameType::kLinkKey:
      return on_key(link, frame.payload);
    case FrameType::kLinkAddresses: {
      Result<WayAddresses> theirs = unpack_way_addresses(frame.payload);
      if (!theirs || link.theirs || theirs->addresses.size() != static_cast<std::size_t>(link.other->nodes))
        return refuse(link, "it has sent a message that makes no sense");
      link.theirs = *std::move(theirs);
      return join_when_known(link);
    }
    case FrameType::kLinkReady:
      link.they_are_ready = true;
      return up_when_ready(link);
    case FrameType::kLinkCall:
      return on_call(link, frame.payload);
    case FrameType::kLinkReply:
      return on_reply(link, frame.payload);
    case FrameType::kLinkVerdict:
      return on_verdict(link, frame);
    case FrameType::kLinkBye: {
      const bool badly = frame.header.detail == kBadly;
      return end(link, "has ended", badly ? fmt::format("has ended: {}", frame.payload) : "");
    }
    default:
      return refuse(link, "it has sent a message that makes no sense");
  }
}

// ---- bytes

void JobLinks::send(Link& link, FrameType type, std::uint16_t detail, std::string_view payload) {
  if (link.fd < 0) return;
  append_frame(link.out, type, -1, detail, payload);
  flush(link);
}

void JobLinks::flush(Link& link) {
  while (!link.out.empty() && link.fd >= 0) {
    const ssize_t sent = ::send(link.fd, link.out.data(), link.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;  // an end shows when it is read
    net::wipe_front(link.out, static_cast<std::size_t>(sent));
  }
}

void JobLinks::receive(Link& link) {
  while (!link.over && link.fd >= 0) {
    const ssize_t got = recv(link.fd, link.in.room(kRead), kRead, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) return end(link, "has ended", "has ended without a word: its tmpirun was killed");
    link.in.filled(static_cast<std::size_t>(got));
    Frame frame{};
    FrameReader::Status status = FrameReader::Status::kIncomplete;
    while (!link.over && link.fd >= 0 && (status = link.in.next(frame)) == FrameReader::Status::kFrame)
      on_frame(link, frame);
    if (status == FrameReader::Status::kGarbage)
      return refuse(link, "it has sent bytes that are not tmpi's protocol");
  }
}

void JobLinks::watch(std::vector<pollfd>& requests) const {
  requests.push_back({directory_.listener(), POLLIN, 0});
  for (const Link& link : links_)
    requests.push_back({link.fd, static_cast<short>(link.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
}

void JobLinks::serve(const pollfd* requests, std::size_t count) {
  const pollfd& listener = requests[0];
  std::size_t next = 1;
  for (Link& link : links_) {
    if (next == count) break;  // a new one
    const short what = requests[next++].revents;
    if (link.over || link.fd < 0 || what == 0) continue;
    if ((what & POLLOUT) != 0) flush(link);
    if ((what & (POLLIN | POLLHUP | POLLERR)) != 0) receive(link);
  }
  if (listener.revents != 0) {
    for (int fd; (fd = directory_.accept_caller()) >= 0;) add(fd, false);
  }
  std::erase_if(links_, [](const Link& link) { return link.over; });
}

Deadline JobLinks::deadline() const {
  Deadline first;
  for (const Link& link : links_) {
    if (link.over) continue;
    const auto note = [&](const Deadline& one) {
      if (one && (!first || *one < *first)) first = one;
    };
    note(link.deadline);
    for (const auto& [whose, asked] : link.unanswered) note(asked.deadline);
  }
  return first;
}

void JobLinks::extend(Clock::duration pause) {
  for (Link& link : links_) {
    if (link.deadline) *link.deadline += pause;
    for (auto& [whose, asked] : link.unanswered) {
      if (asked.deadline) *asked.deadline += pause;
    }
  }
}

void JobLinks::on_deadline() {
  const auto now = Clock::now();
  for (Link& link : links_) {
    if (link.over) continue;
    give_up_calls(link, now);
    if (link.over || !has_passed(link.deadline, now)) continue;
    if (!link.lost.empty()) {
      send(link, FrameType::kLinkRefused, 0, "it has lost the connection with a node process: " + link.lost);
      end(link, "it does not answer any more", "does not answer any more: " + link.lost);
    } else {
      refuse(link,
             fmt::format(
                 "the connection between the two jobs has not come about within {} seconds; is a tmpirun "
                 "or a node process of one of them stopped?",
                 kLinkTime.count()));
    }
  }
}

// Its tmpirun answers each call at once. Should it wake up, it finds the call taken back.
void JobLinks::give_up_calls(Link& link, Clock::time_point now) {
  for (auto next = link.unanswered.begin(); next != link.unanswered.end();) {
    const auto [rank, number] = next->first;
    if (!has_passed(next->second.deadline, now)) {
      ++next;
      continue;
    }
    PortRequest request = std::move(next->second.request);
    next = link.unanswered.erase(next);
    request.call.kind = mpi::PortCall::Kind::kWithdraw;
    send(link, FrameType::kLinkCall, 0, pack(LinkCall{rank, nodes_.node_of(rank), request}));
    refuse_call(rank, number,
                fmt::format("the job {} has not answered within {} seconds; is its tmpirun stopped?",
                            link.other->name, kLinkTime.count()));
  }
}

// ---- ends

void JobLinks::refuse(Link& link, const std::string& why, std::uint16_t detail) {
  send(link, FrameType::kLinkRefused, detail, why);
  end(link, why, parted(why));
}

// `what`: "has ...", of this job, which the other one knows as "it".
void JobLinks::refuse_for_own(Link& link, const std::string& what) {
  send(link, FrameType::kLinkRefused, 0, "it " + what);
  const std::string why = "this job " + what;
  end(link, why, parted(why));
}

void JobLinks::drop(Link& link) {
  link.over = true;
  link.deadline.reset();
  if (link.fd >= 0) close(std::exchange(link.fd, -1));
}

// `why`: for who waits for its answers. `of_its_end`: for who is connected with it; empty: it has ended as it should.
void JobLinks::end(Link& link, const std::string& why, const std::string& of_its_end) {
  if (link.over) return;
  drop(link);
  const auto waiting = std::exchange(link.waiting, {});
  const auto unanswered = std::exchange(link.unanswered, {});
  if (link.index > 0) {
    desk_.ended(link.index);
    tell_nodes(FrameType::kWayEnd, pack(WayEnding{link.index, link.up ? of_its_end : ""}));
  }
  const std::string sentence = fmt::format("no connection with the job {}: {}",
                                           link.other ? link.other->name : "that has opened the port", why);
  for (const auto& [rank, request] : waiting) refuse_call(rank, request.request, sentence);
  for (const auto& [whose, asked] : unanswered) refuse_call(whose.first, whose.second, sentence);
}

void JobLinks::tell_nodes(FrameType type, std::string_view payload) const {
  nodes_.for_each_running([&](Node& node) {
    if (!node.done) node.send(type, 0, payload);
  });
}

void JobLinks::leave(const std::string& why) {
  const auto deadline = Clock::now() + kByeTime;
  for (Link& link : links_) {
    if (link.over || link.fd < 0) continue;
    send(link, FrameType::kLinkBye, why.empty() ? 0 : kBadly, why);
    while (!link.out.empty() && Clock::now() < deadline) {
      pollfd request{link.fd, POLLOUT, 0};
      poll(&request, 1, 100);
      if ((request.revents & (POLLHUP | POLLERR)) != 0) break;
      flush(link);
    }
    drop(link);
  }
}

}  // namespace tmpi::launch
