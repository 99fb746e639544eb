#include "net/ofi/ofi.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "net/maker.hpp"
#include "timers/clock.hpp"

namespace tmpi::net::ofi {
namespace {

constexpr std::string_view kAddressMark = "ofi ";
constexpr std::size_t kSegment = 1 << 20;
constexpr std::size_t kMostRead = 1 << 30;
constexpr std::size_t kFramesOfAll = 4096;  // of all peers together, with many of them
constexpr std::size_t kMostCredits = 64, kLeastCredits = 4;
constexpr int kAtOnce = 16;
// While nobody connects: how often a polling thread asks tcp.
constexpr double kAsidePeriod = 2e-3;

std::string hex_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

// Empty: it is none.
std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    const char* const at = hex.data() + 2 * i;
    if (std::from_chars(at, at + 2, value, 16).ptr != at + 2) return {};
    bytes[i] = static_cast<std::byte>(value);
  }
  return hex.size() % 2 == 0 ? bytes : std::vector<std::byte>();
}

}  // namespace

Ofi::Ofi(const Options& options, Sink& sink) {
  hub_.sink = &sink;
  hub_.node = options.node;
  hub_.frames = &frames_;
  links_.resize(static_cast<std::size_t>(options.nodes));
}

// The provider lets go of all buffers before they are.
Ofi::~Ofi() {
  if (fabric_ != nullptr) fabric_->close_endpoint();
}

Result<std::unique_ptr<Transport>> Ofi::create(const Api& api, std::string_view settings,
                                               const Options& options, Sink& sink) {
  const Result<Settings> parsed = parse_settings(settings);
  if (!parsed) return parsed.failure();
  std::unique_ptr<Ofi> ofi(new Ofi(options, sink));
  if (const Result<void> opened = ofi->open(api, *parsed, options); !opened) return opened.failure();
  return std::unique_ptr<Transport>(std::move(ofi));
}

Result<void> Ofi::open(const Api& api, const Settings& settings, const Options& options) {
  Result<std::unique_ptr<Fabric>> fabric = Fabric::open(api, settings, options.same_machine);
  if (!fabric) return fabric.failure();
  fabric_ = *std::move(fabric);
  hub_.fabric = fabric_.get();
  if (Result<void> opened = frames_.open(*fabric_); !opened) return opened;
  const fi_info& info = fabric_->info();
  const auto peers = static_cast<std::size_t>(std::max(1, options.nodes - 1));
  const std::size_t per_peer = std::min(kFramesOfAll, info.rx_attr->size) / peers;
  hub_.credits = static_cast<std::uint32_t>(
      std::clamp(per_peer - std::min(per_peer, Link::kSpareReceives), kLeastCredits, kMostCredits));
  hub_.most_read = std::min(kMostRead, info.ep_attr->max_msg_size);
  const std::string side_settings =
      settings.interface.empty() ? "" : fmt::format("interface={}", settings.interface);
  Result<std::unique_ptr<Transport>> side = tcp::Tcp::create(side_settings, options, side_sink_);
  if (!side) return side.failure();
  side_ = *std::move(side);
  hub_.side = static_cast<tcp::Tcp*>(side_.get());
  limits_.most_header = kMostHeader;
  limits_.most_buffered = limits_.eager = kMostPayload;
  limits_.segment = kSegment;
  limits_.can_get = limits_.prefers_get = true;
  address_ =
      fmt::format("{}{} {} {}", kAddressMark, fabric_->provider(), hex_of(fabric_->name()), side_->address());
  aside_period_ = timers::ticks(kAsidePeriod);
  watch_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!watch_) return Failure{fmt::format("--net ofi: epoll_create1: {}", std::strerror(errno))};
  for (const int fd : {fabric_->wait_fd(), side_->arm(false).fd}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (fd >= 0 && epoll_ctl(watch_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return Failure{fmt::format("--net ofi: epoll_ctl: {}", std::strerror(errno))};
  }
  return {};
}

std::string Ofi::describe() const {
  return fmt::format("ofi: {}{}; node processes know each other by {}", fabric_->describe(),
                     fabric_->wait_fd() < 0 ? ", which wakes nobody" : "", side_->describe());
}

Result<void> Ofi::set_peers(std::vector<Peer> peers) {
  if (peers.size() != links_.size())
    return Failure{
        fmt::format("--net ofi was told the addresses of {} nodes, not of {}", peers.size(), links_.size())};
  for (std::size_t node = 0; node < peers.size(); ++node) {
    std::string& address = peers[node].address;
    const std::size_t provider = std::min(address.find(' ', kAddressMark.size()), address.size());
    const std::size_t name = std::min(address.find(' ', provider + 1), address.size());
    std::vector<std::byte> bytes;
    if (address.starts_with(kAddressMark) && name < address.size())
      bytes = bytes_of(std::string_view(address).substr(provider + 1, name - provider - 1));
    if (bytes.empty())
      return Failure{
          fmt::format("node {} on {}: \"{}\" is not the address of an ofi transport: do all node "
                      "processes use the same --net?",
                      node, peers[node].host, address)};
    const std::string theirs = address.substr(kAddressMark.size(), provider - kAddressMark.size());
    if (theirs != fabric_->provider())
      return Failure{
          fmt::format("node {} on {} uses libfabric's provider {} and this node {}: name one that all hosts "
                      "have, as in --net "
                      "ofi:{}",
                      node, peers[node].host, theirs, fabric_->provider(), fabric_->provider())};
    address = address.substr(name + 1);
    if (static_cast<int>(node) != hub_.node)
      links_[node] = std::make_unique<Link>(hub_, static_cast<int>(node), peers[node].host, std::move(bytes));
  }
  hub_.waiting.reserve(peers.size());
  hub_.owing.reserve(peers.size());
  return side_->set_peers(std::move(peers));
}

Post Ofi::send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
               Completion* completion) noexcept {
  assert(header.size() <= kMostHeader);
  return links_[static_cast<std::size_t>(peer)]->send(id, header, payload, completion);
}

// The key names the registration, and where offsets count from there.
Result<RemoteKey> Ofi::expose(int, const void* buffer, std::size_t bytes) {
  int error = 0;
  Registered registered = fabric_->register_memory(buffer, bytes, FI_REMOTE_READ, error);
  if (registered == nullptr)
    return Failure{
        fmt::format("--net ofi: {} KiB that another node is to read cannot be registered with provider {} "
                    "({})",
                    bytes >> 10, fabric_->provider(), fabric_->api().strerror(error))};
  const RemoteKey key{{fi_mr_key(registered.get()),
                       fabric_->names_by_address() ? 0 : reinterpret_cast<std::uint64_t>(buffer)}};
  hub_.exposed[key.word[0]] = std::move(registered);
  return key;
}

void Ofi::conceal(const RemoteKey& key) noexcept {
  hub_.exposed.erase(key.word[0]);
}

Post Ofi::get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
              Completion* completion) noexcept {
  return links_[static_cast<std::size_t>(peer)]->get(key.word[0], remote - key.word[1], buffer, bytes,
                                                     completion);
}

// --- progress

void Ofi::take_received(Frame* frame, std::size_t bytes) noexcept {
  FrameHeader header;
  if (bytes >= sizeof header) {
    std::memcpy(&header, frame->data, sizeof header);
    if (header.node >= 0 && static_cast<std::size_t>(header.node) < links_.size()) {
      Link* const link = links_[static_cast<std::size_t>(header.node)].get();
      if (link != nullptr && header.token != 0 && header.token == link->token())
        return link->on_frame(frame, bytes);
    }
  }
  frames_.repost(frame);  // of a stranger
}

void Ofi::take(const fi_cq_msg_entry& entry) noexcept {
  auto* const work = static_cast<Work*>(entry.op_context);
  if (work->kind == Work::Kind::kReceive) return take_received(static_cast<Frame*>(work), entry.len);
  take_done(*work, {});
}

// A read or a sent frame. `error`: empty, or why it has failed.
void Ofi::take_done(Work& work, const std::string& error) noexcept {
  --hub_.under_way;
  if (work.kind == Work::Kind::kRead) {
    Read& read = static_cast<Read&>(work);
    return read.link->on_read(read, error);
  }
  Frame& frame = static_cast<Frame&>(work);
  frame.link->on_sent(error);
  frames_.give_back(&frame);
}

void Ofi::take_error() noexcept {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(fabric_->completions(), &entry, 0) != 1 || entry.op_context == nullptr) return;
  auto* const work = static_cast<Work*>(entry.op_context);
  if (work->kind == Work::Kind::kReceive) return frames_.repost(static_cast<Frame*>(work));
  char text[128] = "";
  const char* const detail =
      fi_cq_strerror(fabric_->completions(), entry.prov_errno, entry.err_data, text, sizeof text);
  std::string why = fabric_->api().strerror(entry.err);
  if (detail != nullptr && *detail != 0 && why != detail) why += fmt::format(" ({})", detail);
  take_done(*work, why);
}

bool Ofi::take_completions() noexcept {
  std::array<fi_cq_msg_entry, kAtOnce> entries;
  const ssize_t count = fi_cq_read(fabric_->completions(), entries.data(), kAtOnce);
  if (count == -FI_EAVAIL) {
    take_error();
    return true;
  }
  for (ssize_t i = 0; i < count; ++i) take(entries[static_cast<std::size_t>(i)]);
  return count > 0;
}

bool Ofi::poll() noexcept {
  bool progress = take_completions();
  if (!hub_.blocked.empty()) read_blocked();
  if (!hub_.waiting.empty()) progress = tcp::flush_waiting(hub_.waiting, connecting_) || progress;
  tcp::settle_owing(hub_.owing);
  if (!hub_.finished.empty()) {
    tcp::tell_finished(hub_.finished);
    progress = true;
  }
  if (!hub_.ending.empty() || !hub_.orphans.empty()) progress = end_ending() || progress;
  const std::uint64_t now = timers::now_ticks();
  if (connecting_ > 0 || now - aside_ > aside_period_) {
    aside_ = now;
    frames_.post_left();
    progress = look_aside() || progress;
  }
  return progress;
}

void Ofi::read_blocked() noexcept {
  for (Read* const read : std::exchange(hub_.blocked, {}))
    if (!read->link->read_on(*read)) hub_.blocked.push_back(read);
}

bool Ofi::end_ending() noexcept {
  const std::uint64_t now = nanoseconds_now();
  const std::size_t before = hub_.ending.size();
  std::vector<Link*> ending;
  ending.swap(hub_.ending);
  std::erase_if(ending, [now](Link* link) { return link->end_if_due(now); });
  hub_.ending.insert(hub_.ending.end(), ending.begin(), ending.end());
  std::erase_if(hub_.orphans, [now](Link* link) { return link->end_orphans(now); });
  return hub_.ending.size() != before;
}

// What is rare: connections, deaths. Frames that were there before are dealt with first, so that whoever has said goodbye,
// or something else, before its end is heard.
bool Ofi::look_aside() noexcept {
  bool progress = side_->poll();
  for (const auto& message : std::exchange(side_sink_.messages, {})) {
    Link& link = *links_[static_cast<std::size_t>(message.peer)];
    if (message.id == SideId::kConnect && message.bytes == sizeof(Connect))
      link.on_connect(message.connect);
    else if (message.id == SideId::kHeard && message.bytes == 0)
      link.on_heard();
    else
      link.fail(fmt::format("node {} sent what is not the protocol of tmpi", message.peer));
    progress = true;
  }
  for (const auto& loss : std::exchange(side_sink_.losses, {})) {
    links_[static_cast<std::size_t>(loss.peer)]->on_side_lost(loss.why);
    progress = true;
  }
  for (const auto& link : links_)
    if (link && !link->over() && hub_.side->gone(link->peer())) link->on_side_gone();
  return progress;
}

Arming Ofi::arm(bool patient) noexcept {
  aside_ = 0;
  Arming arming = side_->arm(patient);
  arming.fd = watch_.get();
  arming.ready = arming.ready || !fabric_->may_wait() || !hub_.finished.empty() || !side_sink_.empty();
  // Nothing tells when libfabric has room again, or has connected.
  constexpr std::uint64_t kSoon = 1'000'000, kLater = 20'000'000;
  if (!hub_.blocked.empty() || !hub_.waiting.empty() || !hub_.owing.empty()) arming.limit(kSoon);
  if (!hub_.ending.empty() || !hub_.orphans.empty() || hub_.under_way > 0) arming.limit(kLater);
  if (fabric_->wait_fd() < 0) arming.limit(kSoon);
  return arming;
}

// --- the end

bool Ofi::idle() const noexcept {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return !link || link->idle(); });
}

bool Ofi::close(double seconds) noexcept {
  const std::uint64_t start = nanoseconds_now();
  const auto elapsed = [start] { return static_cast<double>(nanoseconds_now() - start) * 1e-9; };
  hub_.closing = true;
  for (const auto& link : links_)
    if (link) link->begin_close();
  const auto all_closed = [this] {
    return std::all_of(links_.begin(), links_.end(),
                       [](const auto& link) { return !link || link->closed(); });
  };
  bool closed = all_closed();
  while (!closed && elapsed() < seconds) {
    aside_ = 0;
    if (!poll()) usleep(50);
    closed = all_closed();
  }
  for (const auto& link : links_)
    if (link) link->end_close();
  tcp::tell_finished(hub_.finished);
  return side_->close(std::max(0.5, seconds - elapsed())) && closed;
}

}  // namespace tmpi::net::ofi

namespace tmpi::net {
namespace {

Result<void> check(std::string_view settings) {
  const Result<ofi::Settings> parsed = ofi::parse_settings(settings);
  return parsed ? Result<void>() : Result<void>(parsed.failure());
}

}  // namespace

namespace ofi {
namespace {

constexpr NamedLimit kNamedLimits[] = {
    {"ofi_buffered", kMostPayload, "Bytes of the largest message that ofi copies into a frame of its own."},
    {"ofi_copied", Link::kMostCopied,
     "Bytes of copies that may wait for a peer; then its messages wait in the library's own queue."},
    {"ofi_references", Link::kMostReferences, "Larger messages that may wait for a peer likewise."},
    {"ofi_offers", Link::kMostOffers, "Large messages that a peer may read at a time."},
    {"ofi_gets", Link::kMostGets, "Reads from a peer's memory, at a time."},
    {"ofi_read", kMostRead, "Bytes of the largest read."},
    {"ofi_header", kMostHeader, "Bytes of the longest header of a message."},
};

}  // namespace
}  // namespace ofi

const Maker kOfi = {
    ofi::kSettingsHelp,
    [](std::string_view settings, const Options& options, Sink& sink) -> Result<std::unique_ptr<Transport>> {
      const auto api = ofi::system_api();
      if (!api) return api.failure();
      return ofi::Ofi::create(**api, settings, options, sink);
    },
    check,
    nullptr,
    nullptr,
    nullptr,
    ofi::kNamedLimits};

}  // namespace tmpi::net
