#include "net/verbs/verbs.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/maker.hpp"
#include "net/receive_pools.hpp"
#include "net/verbs/adapters.hpp"
#include "net/verbs/rails.hpp"
#include "net/verbs/unmap_hooks.hpp"
#include "timers/clock.hpp"

namespace tmpi::net::verbs {
namespace {

constexpr char kAddressMark[] = "verbs ";
constexpr std::size_t kSegment = 1 << 20;
constexpr std::uint32_t kMostCredits = 64;
constexpr std::uint32_t kLeastCredits = 4;
constexpr std::uint32_t kCreditsOfAll = 4096;  // of all peers together, with many of them
constexpr std::uint32_t kMostDepth = 256;
constexpr std::uint32_t kDepthOfAll = 65536;
constexpr std::uint32_t kSendBuffers = 256;
constexpr std::size_t kSendBytes = 4 << 20;
constexpr std::size_t kMostRead = 1 << 30;
// While nobody connects: how often a polling thread asks the system for what is rare.
constexpr double kAsidePeriod = 2e-3;
constexpr std::uint64_t kPortPatience = 1'500'000'000;

std::uint32_t clamp(std::uint32_t value, std::uint32_t least, std::uint32_t most) {
  return std::max(least, std::min(value, most));
}

}  // namespace

Verbs::Verbs(const Options& options, Sink& sink) {
  hub_.sink = &sink;
  hub_.node = options.node;
  links_.resize(static_cast<std::size_t>(options.nodes));
  switches_.resize(links_.size());
}

Result<std::unique_ptr<Transport>> Verbs::create(const Api& api, const Settings& settings,
                                                 const Options& options, Sink& sink, Watch watch) {
  std::unique_ptr<Verbs> verbs(new Verbs(options, sink));
  if (const Result<void> opened = verbs->open(api, settings, options, std::move(watch)); !opened)
    return opened.failure();
  return std::unique_ptr<Transport>(std::move(verbs));
}

Result<void> Verbs::open(const Api& api, const Settings& settings, const Options& options, Watch watch) {
  Result<std::unique_ptr<Device>> device = Device::open(api, settings, {options.same_machine, options.node});
  if (!device) return device.failure();
  device_ = std::move(*device);
  hub_.device = device_.get();
  hub_.patience = std::uint64_t{1'000'000'000} * static_cast<std::uint64_t>(settings.patience);
  if (Result<void> sized = size_up(options); !sized) return sized;
  Result<std::unique_ptr<Transport>> side = tcp::Tcp::create(settings.side, options, side_sink_);
  if (!side) return side.failure();
  side_ = std::move(*side);
  hub_.side = static_cast<tcp::Tcp*>(side_.get());
  hub_.registrations.use(*device_, std::move(watch.watch));
  no_cache_ = watch.why_not;
  hub_.exposures.use(*device_, hub_.registrations);
  limits_.most_header = kMostHeader;
  limits_.most_buffered = kMostBuffered;
  limits_.eager = kMostBuffered;
  limits_.segment = kSegment;
  limits_.can_get = limits_.prefers_get = true;
  address_ = fmt::format("{}{} {}", kAddressMark, gid_text(device_->gid), side_->address());
  aside_period_ = timers::ticks(kAsidePeriod);
  watch_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!watch_) return Failure{fmt::format("--net verbs: epoll_create1: {}", std::strerror(errno))};
  for (const int fd : {device_->channel->fd, device_->context->async_fd, side_->arm(false).fd}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(watch_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return Failure{fmt::format("--net verbs: epoll_ctl: {}", std::strerror(errno))};
  }
  return {};
}

// How many frames and work requests there may be, for that many nodes on this adapter: completion queues that never
// overflow, and a buffer for every frame.
Result<void> Verbs::size_up(const Options& options) {
  const auto peers = static_cast<std::uint32_t>(std::max(1, options.nodes - 1));
  const auto most_entries = static_cast<std::uint32_t>(std::max(1, device_->attributes.max_cqe));
  const auto most_buffers =
      std::min(most_entries, static_cast<std::uint32_t>(std::max(0, device_->attributes.max_srq_wr)));
  FrameSizes sizes;
  sizes.payload = std::clamp(options.eager, kMostBuffered, kLargestPayload);
  sizes.peers = peers;
  sizes.send_buffers = clamp(static_cast<std::uint32_t>(kSendBytes / sizes.payload), 8, kSendBuffers);
  sizes.credits = std::min(clamp(kCreditsOfAll / peers, 8, kMostCredits), frames_of(sizes.payload));
  sizes.credits =
      std::min(sizes.credits, most_buffers / peers - std::min(most_buffers / peers, kSpareBuffers));
  // Several cost the adapter hardly more than one. It takes so many buffers more, which must not weigh.
  if (sizes.payload <= kMostBuffered && sizes.credits >= 2 * ReceivePool::kMostTogether &&
      peers * (sizes.credits + kSpareBuffers) + ReceivePool::kMostTogether <= most_buffers)
    sizes.together = ReceivePool::kMostTogether;
  sizes.depth = clamp(kDepthOfAll / peers, 64, kMostDepth);
  sizes.depth = std::min({sizes.depth, most_entries / peers,
                          static_cast<std::uint32_t>(std::max(0, device_->attributes.max_qp_wr))});
  if (sizes.credits < kLeastCredits || sizes.depth < Link::kLeastDepth)
    return Failure{fmt::format(
        "--net verbs: {} cannot serve {} nodes (shared receive queue {}, completion queue {}, queue pair "
        "{}); use --net tcp",
        device_->where(), options.nodes, device_->attributes.max_srq_wr, device_->attributes.max_cqe,
        device_->attributes.max_qp_wr)};
  hub_.most_read =
      std::min<std::size_t>(kMostRead, std::max<std::size_t>(kSegment, device_->port_attributes.max_msg_sz));
  pools_.push_back(std::make_unique<FramePool>());
  return pools_.front()->create(*device_, sizes);
}

Verbs::~Verbs() {
  stop_all();
  links_.clear();
  side_.reset();
}

void Verbs::stop_all() noexcept {
  for (const auto& link : links_)
    if (link) link->stop();
}

std::string Verbs::describe() const {
  return fmt::format(
      "verbs on {}{}; queue pairs are connected by {}", device_->describe(),
      no_cache_.empty() ? "" : fmt::format(", buffers are registered for each message ({})", no_cache_),
      side_->describe());
}

Result<void> Verbs::set_peers(std::vector<Peer> peers) {
  if (peers.size() != links_.size())
    return Failure{fmt::format("--net verbs was told the addresses of {} nodes, not of {}", peers.size(),
                               links_.size())};
  for (std::size_t node = 0; node < peers.size(); ++node) {
    std::string& address = peers[node].address;
    address = rail_of_address(address, 0);
    const std::size_t behind = address.find(' ', sizeof kAddressMark - 1);
    if (!address.starts_with(kAddressMark) || behind == std::string::npos)
      return Failure{
          fmt::format("node {} on {}: \"{}\" is not the address of a verbs transport: do all node "
                      "processes use the same --net?",
                      node, peers[node].host, address)};
    address = address.substr(behind + 1);
    if (static_cast<int>(node) != hub_.node)
      links_[node] = std::make_unique<Link>(hub_, *pools_.front(), static_cast<int>(node), peers[node].host);
  }
  hub_.waiting.reserve(peers.size());
  hub_.owing.reserve(peers.size());
  return side_->set_peers(std::move(peers));
}

Post Verbs::send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                 Completion* completion) noexcept {
  assert(header.size() <= kMostHeader);
  return links_[static_cast<std::size_t>(peer)]->sending().send(id, header, payload, completion);
}

Result<RemoteKey> Verbs::expose(int peer, const void* buffer, std::size_t bytes) {
  Exposure* const exposure = links_[static_cast<std::size_t>(peer)]->expose(buffer, bytes);
  if (exposure == nullptr)
    return cannot(*device_, fmt::format("register {} KiB that another node is to read", bytes >> 10), errno);
  return RemoteKey{{exposure->key, exposure->index}};
}

void Verbs::conceal(const RemoteKey& key) noexcept {
  Exposure* const exposure = hub_.exposures.at(key.word[1]);
  if (exposure != nullptr) links_[static_cast<std::size_t>(exposure->peer)]->conceal(*exposure);
}

Post Verbs::get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
                Completion* completion) noexcept {
  return links_[static_cast<std::size_t>(peer)]->get(static_cast<std::uint32_t>(key.word[0]), remote, buffer,
                                                     bytes, completion);
}

// --- progress

inline void Verbs::take(FramePool& pool, const ibv_wc& completion) noexcept {
  const auto buffer = static_cast<std::uint32_t>(completion.wr_id);
  Link* const link = hub_.by_pair.find(completion.qp_num);
  if (completion.status != IBV_WC_SUCCESS || link == nullptr) [[unlikely]] {
    pool.receives.give_back(buffer);
    if (completion.status != IBV_WC_WR_FLUSH_ERR && link != nullptr)
      link->fail(fmt::format("receiving on {} failed (completion status {}); dmesg may say why",
                             device_->where(), static_cast<int>(completion.status)));
    return;
  }
  link->on_received({buffer, completion.byte_len});
}

void Verbs::take_sent(const ibv_wc& completion) noexcept {
  if (Link* const link = hub_.by_pair.find(completion.qp_num))
    link->on_sent(static_cast<std::uint32_t>(completion.wr_id), completion.status);
}

namespace {

// Calls use(completion) for what is there, or what arm() has found before. True if there was anything. Not `drained`:
// there may be more.
template <class Use>
[[gnu::always_inline]] inline bool poll_queue(ibv_cq* queue, FramePool::Stash& stash, bool& drained,
                                              Use use) noexcept {
  if (stash.count > 0) [[unlikely]] {
    drained = false;
    const int count = std::exchange(stash.count, 0);
    for (int i = 0; i < count; ++i) use(stash.entries[static_cast<std::size_t>(i)]);
    return true;
  }
  std::array<ibv_wc, FramePool::kAtOnce> completions;
  const int count = ibv_poll_cq(queue, FramePool::kAtOnce, completions.data());
  if (count == FramePool::kAtOnce) drained = false;
  for (int i = 0; i < count; ++i) use(completions[static_cast<std::size_t>(i)]);
  return count > 0;
}

}  // namespace

inline bool Verbs::poll_received() noexcept {
  bool any = false;
  for (std::size_t i = 0; i < pools_.size(); ++i) {  // what the sink does may add one
    FramePool& pool = *pools_[i];
    const auto use = [&](const ibv_wc& completion) { take(pool, completion); };
    any = poll_queue(pool.received, pool.stashed_received, drained_, use) || any;
  }
  return any;
}

inline bool Verbs::poll_sent() noexcept {
  bool any = false;
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    FramePool& pool = *pools_[i];
    const auto use = [&](const ibv_wc& done) { take_sent(done); };
    any = poll_queue(pool.sent, pool.stashed_sent, drained_, use) || any;
  }
  return any;
}

// What the peers have sent before has come, by whatever queue pair.
void Verbs::hear_goodbyes() noexcept {
  while (poll_received()) {
  }
  for (Link* const link : hub_.goodbyes) link->stop();
  for (Link* const link : std::exchange(hub_.goodbyes, {})) link->on_goodbye();
}

// A rank may wait for what has come: the rest can wait for the next round, but not for two.
bool Verbs::round() noexcept {
  drained_ = true;
  bool progress = poll_received();
  const bool hurried = progress && !hurried_;
  hurried_ = hurried;
  if (hurried)
    drained_ = false;
  else if (hub_.under_way > 0)
    progress = poll_sent() || progress;
  if (!hub_.released.empty())
    for (Link* const link : std::exchange(hub_.released, {})) link->deliver_held();
  if (!hub_.goodbyes.empty()) hear_goodbyes();
  if (!hub_.waiting.empty()) progress = tcp::flush_waiting(hub_.waiting, connecting_) || progress;
  tcp::settle_owing(hub_.owing);
  if (!hub_.finished.empty()) {
    tcp::tell_finished(hub_.finished);
    progress = true;
  }
  if (!hub_.failing.empty()) progress = report_failing() || progress;
  if (hurried) return true;
  for (const auto& pool : pools_) pool->receives.post_free();
  const std::uint64_t now = timers::now_ticks();
  if (connecting_ > 0 || now - aside_ > aside_period_) {
    aside_ = now;
    progress = look_aside() || progress;
  }
  return progress;
}

bool Verbs::poll() noexcept {
  return round();
}

bool Verbs::report_failing() noexcept {
  look_aside();  // it may know more
  // Whatever work requests end with when the port is down, that is the reason.
  if (port_down_ != 0 || !port_is_active())
    for (Link* const link : hub_.failing) link->explain(loss_of(*link, port_trouble()));
  const std::uint64_t now = nanoseconds_now();
  const std::size_t before = hub_.failing.size();
  std::erase_if(hub_.failing, [now](Link* link) {
    if (!link->report(now)) return false;
    link->listed_failing = false;
    return true;
  });
  return hub_.failing.size() != before;
}

// What is rare: connections, deaths, the state of the port. Frames that were there before are dealt with first, so
// that whoever has said goodbye, or something else, before its end is heard.
bool Verbs::look_aside() noexcept {
  bool progress = side_->poll();
  if (hub_.under_way == 0) poll_sent();  // what queue pairs that are no more have left there
  take_events();
  if (port_down_ != 0 && nanoseconds_now() - port_down_ > kPortPatience) {
    port_down_ = 0;
    fail_all(port_trouble());
  }
  for (const auto& message : std::exchange(side_sink_.messages, {})) {
    Link& link = *links_[static_cast<std::size_t>(message.peer)];
    if (message.id == SideId::kConnect && message.bytes == sizeof(Connect)) {
      link.on_connect(message.connect);
    } else if (message.id == SideId::kReady && message.bytes == 0) {
      link.on_ready();
    } else {
      link.fail(fmt::format("node {} sent what is not the protocol of tmpi", message.peer));
    }
    progress = true;
  }
  watch_works();
  bool gone = !side_sink_.losses.empty();
  for (const auto& link : links_)
    gone = gone || (link && (link->up() || link->connecting()) && hub_.side->gone(link->peer()));
  retire_siblings();
  if (!gone) return progress;
  hear_goodbyes();
  for (const auto& loss : std::exchange(side_sink_.losses, {}))
    links_[static_cast<std::size_t>(loss.peer)]->on_side_lost(loss.why);
  for (const auto& link : links_)
    if (link && hub_.side->gone(link->peer())) link->on_side_gone();
  return true;
}

void Verbs::watch_works() noexcept {
  if (!drained_) return;  // the completion of the oldest request may be there
  const std::uint64_t elapsed = look_time_.advance(nanoseconds_now());
  if (elapsed == 0 || hub_.under_way == 0) return;
  for (const auto& link : links_)
    if (link) link->watch(elapsed);
}

Arming Verbs::arm(bool patient) noexcept {
  if (armed_) {
    ibv_cq* queue = nullptr;
    void* unused = nullptr;
    while (device_->api.get_cq_event(device_->channel, &queue, &unused) == 0)
      device_->api.ack_cq_events(queue, 1);
  }
  armed_ = true;
  bool found = false;
  for (const auto& pool : pools_) {
    ibv_req_notify_cq(pool->received, 0);
    ibv_req_notify_cq(pool->sent, 0);
    // What came before the request tells nobody.
    const auto look = [&](ibv_cq* from, FramePool::Stash& stash) {
      if (stash.count == 0)
        stash.count = std::max(0, ibv_poll_cq(from, FramePool::kAtOnce, stash.entries.data()));
      found = found || stash.count > 0;
    };
    look(pool->received, pool->stashed_received);
    look(pool->sent, pool->stashed_sent);
  }
  aside_ = 0;
  Arming arming = side_->arm(patient);
  arming.fd = watch_.get();
  arming.ready =
      arming.ready || found || !hub_.released.empty() || !hub_.finished.empty() || !side_sink_.empty();
  if (!hub_.failing.empty() || port_down_ != 0) arming.limit(50'000'000);
  if (hub_.under_way > 0) arming.limit(LookTime::kMost);
  return arming;
}

// --- the end

bool Verbs::idle() const noexcept {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) {
    return !link || (link->idle() && std::all_of(link->siblings.begin(), link->siblings.end(),
                                                 [](const auto& sibling) { return sibling->idle(); }));
  });
}

bool Verbs::close(double seconds) noexcept {
  const std::uint64_t start = nanoseconds_now();
  const auto elapsed = [start] { return static_cast<double>(nanoseconds_now() - start) * 1e-9; };
  hub_.closing = true;
  const auto drive = [&](const auto& done) {
    while (!done() && elapsed() < seconds) {
      if (round()) continue;
      aside_ = 0;
      usleep(50);
    }
    return done();
  };
  // A goodbye goes by the first link: what has been posted to siblings is there before.
  bool closed = true;
  for (const auto& link : links_) {
    if (!link || link->siblings.empty()) continue;
    for (const auto& sibling : link->siblings) sibling->begin_close();
    closed = drive([&] {
               return std::all_of(link->siblings.begin(), link->siblings.end(),
                                  [](const auto& sibling) { return sibling->closed(); });
             }) &&
             closed;
  }
  for (const auto& link : links_)
    if (link) link->begin_close();
  closed = drive([&] {
             return std::all_of(links_.begin(), links_.end(),
                                [](const auto& link) { return !link || link->closed(); });
           }) &&
           closed;
  stop_all();
  for (const auto& link : links_)
    if (link) link->end_close();
  tcp::tell_finished(hub_.finished);
  return side_->close(std::max(0.5, seconds - elapsed())) && closed;
}

}  // namespace tmpi::net::verbs

namespace tmpi::net {
namespace {

Result<void> check(std::string_view settings) {
  const Result<verbs::Settings> parsed = verbs::parse_settings(settings);
  return parsed ? Result<void>() : Result<void>(parsed.failure());
}

}  // namespace

namespace verbs {
namespace {

constexpr NamedLimit kNamedLimits[] = {
    {"verbs_buffered", kMostBuffered,
     "Bytes of the largest message that verbs copies into a frame of its own, unless --eager-limit makes "
     "frames larger."},
    {"verbs_payload", kLargestPayload, "Bytes of the largest frame."},
    {"verbs_copied", Link::kMostCopied,
     "Bytes of copies that may wait for a peer; then its messages wait in the library's own queue."},
    {"verbs_references", Link::kMostReferences, "Larger messages that may wait for a peer likewise."},
    {"verbs_offers", Link::kMostOffers, "Large messages that a peer may read at a time."},
    {"verbs_gets", Link::kMostGets, "Reads from a peer's memory, at a time."},
    {"verbs_spare_requests", Link::kSpareRequests,
     "Work requests of a queue pair that are kept for what must not wait."},
    {"verbs_least_depth", Link::kLeastDepth,
     "Work requests of a queue pair, at least: an adapter that has fewer is not used."},
    {"verbs_registrations", Registrations::kMostCached, "Ranges of memory that stay registered unused."},
    {"verbs_read", kMostRead, "Bytes of the largest read by the adapter."},
    {"verbs_rails", kMostRails, "Adapters of a node process (--net verbs:A+B)."},
    {"verbs_pools", ReceivePools::kMostPools, "Sizes of receive buffers (--eager-limit dynamic)."},
    {"verbs_pool_bytes", ReceivePools::kMostBytes, "Bytes of all receive buffers of that kind together."},
    {"verbs_header", kMostHeader, "Bytes of the longest header of a message."},
};

}  // namespace
}  // namespace verbs

const Maker kVerbs = {
    verbs::kSettingsHelp,
    [](std::string_view settings, const Options& options, Sink& sink) -> Result<std::unique_ptr<Transport>> {
      const auto api = verbs::system_api();
      if (!api) return api.failure();
      return verbs::create(**api, settings, options, sink);
    },
    check,
    [] { return verbs::why_not_here(); },
    [] { verbs::hook_unmappings(); },
    nullptr,
    verbs::kNamedLimits};

}  // namespace tmpi::net
