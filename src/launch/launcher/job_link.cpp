#include "launch/launcher/job_link.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

constexpr std::uint16_t kCrossed = 1;  // kLinkRefused: both have called
constexpr std::uint16_t kBadly = 1;    // kLinkBye

bool all_known(const std::vector<std::optional<std::string>>& addresses) {
  return std::ranges::all_of(addresses, [](const auto& address) { return address.has_value(); });
}

// WayEnding::why, which is said of the other job.
std::string parted(const std::string& why) {
  return "is not connected with it any more: " + why;
}

// Why two jobs that are like that are not connected; empty: they are.
std::string mismatch(const LinkHello& own, const LinkHello& other) {
  if (other.wire_version != own.wire_version || other.version != own.version)
    return fmt::format("the two jobs run different versions of tmpi, {} and {}; only the same are connected",
                       own.version, other.version);
  if (other.network != own.network)
    return "the two jobs are on different machines, or in containers with networks of their own";
  return other.job == own.job ? "a job cannot be connected with itself" : "";
}

}  // namespace

JobLink::JobLink(const LinkedJob& own, Others& others, Fd socket, std::uint64_t job)
    : own_(own),
      others_(others),
      called_(true),
      channel_(std::move(socket)),
      state_(Calling{job}),
      deadline_(Clock::now() + kLinkTime) {
  send(FrameType::kLinkHello, 0, pack(own_.hello));
}

JobLink::JobLink(const LinkedJob& own, Others& others, Fd socket)
    : own_(own),
      others_(others),
      called_(false),
      channel_(std::move(socket)),
      state_(Called{}),
      deadline_(Clock::now() + kLinkTime) {}

std::uint64_t JobLink::job() const {
  if (over()) return 0;
  const Calling* const calling = std::get_if<Calling>(&state_);
  return calling != nullptr ? calling->job : other_.job;
}

void JobLink::tell_nodes(FrameType type, std::string_view payload) const {
  own_.nodes.for_each_running([&](Node& node) {
    if (!node.done) node.send(type, 0, payload);
  });
}

// ---- how it comes to be

void JobLink::on_hello(std::string_view payload) {
  if (!is<Calling>() && !is<Called>()) return refuse("it has said hello twice");
  Result<LinkHello> hello = unpack_link_hello(payload);
  if (!hello) return refuse(hello.message());
  if (const std::string why = mismatch(own_.hello, *hello); !why.empty()) return refuse(why);
  if (called_ && hello->job != job()) return refuse("another job answers in its place");
  if (!called_ && !others_.yields_to(*hello)) return refuse("both jobs call each other", kCrossed);
  other_ = *std::move(hello);
  if (called_)
    state_ = AwaitingKey{};
  else
    answer_hello();
}

void JobLink::answer_hello() {
  calls_.add_waiting(others_.take_over(*this));
  if (const Result<void> room = others_.room(); !room) return refuse_for_own(room.message());
  Result<net::JobKey> key = net::JobKey::draw();
  if (!key) return refuse(key.message());
  send(FrameType::kLinkHello, 0, pack(own_.hello));
  // Between processes of one user, through the kernel alone.
  std::string bytes = pack(*key);
  send(FrameType::kLinkKey, 0, bytes);
  net::wipe(bytes);
  prepare(*std::move(key));
}

void JobLink::on_key(std::string_view payload) {
  Result<net::JobKey> key = unpack_link_key(payload);
  if (!key || !is<AwaitingKey>()) return refuse_nonsense();
  prepare(*std::move(key));
}

// The node processes of the job that has called come first in the count of both.
void JobLink::prepare(net::JobKey key) {
  const int nodes = own_.nodes.planned();
  index_ = others_.next_index();
  state_ = Preparing{std::vector<std::optional<std::string>>(static_cast<std::size_t>(nodes)), {}};
  WayOrder order;
  order.index = index_;
  order.other_job = other_.job;
  order.other_name = other_.name;
  order.other_nodes = other_.nodes;
  order.first = called_ ? 0 : other_.nodes;
  order.other_first = called_ ? nodes : 0;
  order.key = std::move(key);
  std::string payload = pack(order);
  tell_nodes(FrameType::kWayPrepare, payload);
  net::wipe(payload);
}

void JobLink::on_answer(std::size_t node, FrameType type, const WayAnswer& answer) {
  if (type == FrameType::kWayLost) {
    if (!lost_.empty()) return;
    lost_ = answer.problem;
    deadline_ = Clock::now() + kBetterCause;
  } else if (!answer.problem.empty()) {
    refuse_for_own(answer.problem);
  } else if (Preparing* const preparing = std::get_if<Preparing>(&state_);
             preparing != nullptr && type == FrameType::kWayPrepared) {
    preparing->addresses[node] = answer.address;
    if (!all_known(preparing->addresses)) return;
    send(FrameType::kLinkAddresses, 0, pack(own_addresses(*preparing)));
    join_when_known();
  } else if (Joining* const joining = std::get_if<Joining>(&state_);
             joining != nullptr && type == FrameType::kWayJoined) {
    joining->joined[node] = true;
    if (std::ranges::find(joining->joined, false) == joining->joined.end()) on_own_readiness();
  }
}

WayAddresses JobLink::own_addresses(const Preparing& preparing) const {
  WayAddresses own;
  for (const auto& node : own_.nodes) {
    own.addresses.push_back(*preparing.addresses[static_cast<std::size_t>(node->number())]);
    own.hosts.push_back(node->host());
  }
  return own;
}

void JobLink::on_addresses(std::string_view payload) {
  Result<WayAddresses> theirs = unpack_way_addresses(payload);
  Preparing* const preparing = std::get_if<Preparing>(&state_);
  if (!theirs || preparing == nullptr || preparing->theirs ||
      theirs->addresses.size() != static_cast<std::size_t>(other_.nodes))
    return refuse_nonsense();
  preparing->theirs = *std::move(theirs);
  join_when_known();
}

void JobLink::join_when_known() {
  const Preparing& preparing = std::get<Preparing>(state_);
  if (!preparing.theirs || !all_known(preparing.addresses)) return;
  const WayAddresses own = own_addresses(preparing);
  const WayAddresses theirs = *preparing.theirs;
  WayAddresses all = called_ ? own : theirs;
  const WayAddresses& rest = called_ ? theirs : own;
  all.index = index_;
  all.addresses.insert(all.addresses.end(), rest.addresses.begin(), rest.addresses.end());
  all.hosts.insert(all.hosts.end(), rest.hosts.begin(), rest.hosts.end());
  state_ = Joining{std::vector<bool>(own.addresses.size())};
  tell_nodes(FrameType::kWayJoin, pack(all));
}

void JobLink::on_own_readiness() {
  const bool they_are_ready = std::get<Joining>(state_).they_are_ready;
  state_ = Ready{};
  send(FrameType::kLinkReady, 0, {});
  if (they_are_ready) be_up();
}

void JobLink::on_their_readiness() {
  if (is<Ready>()) return be_up();
  Joining* const joining = std::get_if<Joining>(&state_);
  if (joining == nullptr || joining->they_are_ready) return refuse_nonsense();
  joining->they_are_ready = true;
}

void JobLink::be_up() {
  state_ = Up{};
  if (lost_.empty()) deadline_.reset();
  calls_.begin(index_, other_);
}

// ---- frames

void JobLink::on_frame(const Frame& frame) {
  const FrameType type = frame.header.type;
  if (type == FrameType::kLinkHello) return on_hello(frame.payload);
  if (type == FrameType::kLinkRefused) {
    if (frame.header.detail == kCrossed && is<Calling>()) return channel_.close();
    const std::string why(frame.payload);
    return end(why, parted(why));
  }
  if (is<Calling>() || is<Called>()) return refuse("it has not said who it is");
  switch (type) {
    case FrameType::kLinkKey:
      return on_key(frame.payload);
    case FrameType::kLinkAddresses:
      return on_addresses(frame.payload);
    case FrameType::kLinkReady:
      return on_their_readiness();
    case FrameType::kLinkCall:
    case FrameType::kLinkReply:
    case FrameType::kLinkVerdict:
      if (const Result<void> good = calls_.on_frame(frame); !good) refuse(good.message());
      return;
    case FrameType::kLinkBye: {
      const bool badly = frame.header.detail == kBadly;
      return end("has ended", badly ? fmt::format("has ended: {}", frame.payload) : "");
    }
    default:
      return refuse_nonsense();
  }
}

void JobLink::receive() {
  while (channel_.in() >= 0) {
    switch (channel_.receive()) {
      case Channel::Received::kNothing:
        return;
      case Channel::Received::kEnd:
        return end("has ended", "has ended without a word: its tmpirun was killed");
      case Channel::Received::kSomething:
        break;
    }
    Frame frame{};
    FrameReader::Status status = FrameReader::Status::kIncomplete;
    while (channel_.in() >= 0 && (status = channel_.next(frame)) == FrameReader::Status::kFrame)
      on_frame(frame);
    if (channel_.in() >= 0 && status == FrameReader::Status::kGarbage)
      return refuse("it has sent bytes that are not tmpi's protocol");
  }
}

// ---- time

Deadline JobLink::deadline() const {
  if (over()) return {};
  const Deadline calls = calls_.deadline();
  return deadline_ && (!calls || *deadline_ < *calls) ? deadline_ : calls;
}

void JobLink::extend(Clock::duration pause) {
  if (deadline_) *deadline_ += pause;
  calls_.extend(pause);
}

void JobLink::on_deadline(Clock::time_point now) {
  if (over()) return;
  calls_.give_up(now);
  if (over() || !has_passed(deadline_, now)) return;
  if (!lost_.empty()) {
    send(FrameType::kLinkRefused, 0, "it has lost the connection with a node process: " + lost_);
    return end("it does not answer any more", "does not answer any more: " + lost_);
  }
  refuse(
      fmt::format("the connection between the two jobs has not come about within {} seconds; is a tmpirun "
                  "or a node process of one of them stopped?",
                  kLinkTime.count()));
}

// ---- ends

void JobLink::refuse(const std::string& why, std::uint16_t detail) {
  send(FrameType::kLinkRefused, detail, why);
  end(why, parted(why));
}

// `what`: "has ...", of this job, which the other one knows as "it".
void JobLink::refuse_for_own(const std::string& what) {
  send(FrameType::kLinkRefused, 0, "it " + what);
  const std::string why = "this job " + what;
  end(why, parted(why));
}

void JobLink::drop() {
  state_ = Over{};
  deadline_.reset();
  channel_.close();
}

// `why`: for who waits for its answers. `of_its_end`: for who is connected with it; empty: it has ended as it should.
void JobLink::end(const std::string& why, const std::string& of_its_end) {
  if (over()) return;
  const bool was_up = up();
  drop();
  if (index_ > 0) {
    own_.events.ended(index_);
    tell_nodes(FrameType::kWayEnd, pack(WayEnding{index_, was_up ? of_its_end : ""}));
  }
  const bool known = !other_.name.empty();
  calls_.refuse_all(fmt::format("no connection with the job {}: {}",
                                known ? other_.name : "that has opened the port", why));
}

void JobLink::leave(const std::string& why, Clock::time_point deadline) {
  if (descriptor() < 0) return;
  send(FrameType::kLinkBye, why.empty() ? 0 : kBadly, why);
  while (channel_.wants_to_send() && Clock::now() < deadline) {
    pollfd request{descriptor(), POLLOUT, 0};
    poll(&request, 1, 100);
    if ((request.revents & (POLLHUP | POLLERR)) != 0) break;
    flush();
  }
  drop();
}

}  // namespace tmpi::launch
