#include "net/verbs/rails.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/tcp/socket.hpp"
#include "net/verbs/adapters.hpp"
#include "net/verbs/shared_watch.hpp"
#include "net/verbs/verbs.hpp"

namespace tmpi::net::verbs {
namespace {

constexpr std::uint8_t kNotice = 1;         // id of the messages on all rails but the first
constexpr std::size_t kMostAddress = 1024;  // Transport::address()
constexpr std::uint64_t kLowWord = UINT32_MAX;

std::string not_the_protocol(int peer) {
  return fmt::format("node {} sent what is not the protocol of tmpi", peer);
}

class Rails final : public Transport {
 public:
  Rails(const Options& options, Sink& sink, Nearest nearest)
      : sink_(sink), nearest_(std::move(nearest)), peers_(static_cast<std::size_t>(options.nodes)) {}

  Result<void> open(const Api& api, const std::vector<Settings>& settings, const Options& options);

  const Limits& limits() const noexcept override { return first().limits(); }
  int numa_node() const override { return first().numa_node(); }
  std::string describe() const override;
  const std::string& address() const noexcept override { return address_; }
  Result<void> set_peers(std::vector<Peer> peers) override;
  Post send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
            Completion* completion) noexcept override {
    return first().send(peer, id, header, payload, completion);
  }
  Result<RemoteKey> expose(int peer, const void* buffer, std::size_t bytes) override;
  void conceal(const RemoteKey& key) noexcept override;
  Post get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
           Completion* completion) noexcept override;
  bool poll() noexcept override;
  Arming arm(bool patient) noexcept override;
  bool idle() const noexcept override;
  bool close(double seconds) noexcept override;
  Reconnection* reconnection() noexcept override { return first().reconnection(); }
  ReceiveBuffers receive_buffers() const noexcept override;
  Traffic traffic() const noexcept override { return first().traffic(); }

 private:
  // What comes by one rail.
  struct Rail final : Sink {
    Rail(Rails& owner, std::size_t own) : rails(owner), number(own) {}
    Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                     std::size_t payload) noexcept override;
    void landed(int peer, void* token) noexcept override;
    void lost(int peer, const std::string& why) noexcept override { rails.lose(peer, why); }

    Rails& rails;
    const std::size_t number;
    std::unique_ptr<Transport> transport;
  };
  struct OnRail {
    std::uint32_t told = 0;   // notices sent to the peer
    std::uint32_t heard = 0;  // notices that have come from there
  };
  struct Of {
    bool lost = false;
    std::size_t rails = 1;        // that it has, and this node too
    std::vector<OnRail> on_rail;  // by rail
  };

  Transport& first() const noexcept { return *rails_.front()->transport; }
  Of& of(int peer) noexcept { return peers_[static_cast<std::size_t>(peer)]; }
  void lose(int peer, const std::string& why) noexcept;
  // The key as its rail knows it.
  static RemoteKey own_key(const RemoteKey& key) noexcept {
    return {{key.word[0] & kLowWord, key.word[1] & kLowWord}};
  }
  static std::size_t rail_of(const RemoteKey& key) noexcept { return key.word[1] >> 32; }

  Sink& sink_;
  const Nearest nearest_;
  std::vector<Of> peers_;
  std::vector<std::unique_ptr<Rail>> rails_;
  std::vector<int> strangers_;  // peers that sent keys of no rail; the sink is told by the next poll()
  std::string address_;
  Fd watch_;  // epoll: what each rail's sleeper watches
};

Result<void> Rails::open(const Api& api, const std::vector<Settings>& settings, const Options& options) {
  std::string no_cache;
  auto watches = share_watch(UnmapWatch::create(no_cache), static_cast<int>(settings.size()));
  watch_.reset(epoll_create1(EPOLL_CLOEXEC));
  for (std::size_t i = 0; i < settings.size(); ++i) {
    auto rail = std::make_unique<Rail>(*this, i);
    auto made = Verbs::create(api, settings[i], options, *rail, {std::move(watches[i]), no_cache});
    if (!made) return made.failure();
    rail->transport = std::move(*made);
    if (i > 0 && address_.size() + 1 + rail->transport->address().size() > kMostAddress) break;
    epoll_event event{.events = EPOLLIN, .data = {.fd = 0}};
    if (epoll_ctl(watch_.get(), EPOLL_CTL_ADD, rail->transport->arm(false).fd, &event) != 0)
      return Failure{fmt::format("--net verbs: epoll_ctl: {}", std::strerror(errno))};
    if (i > 0) address_ += kBetweenRails;
    address_ += rail->transport->address();
    rails_.push_back(std::move(rail));
  }
  return {};
}

std::string Rails::describe() const {
  std::string text = fmt::format("{} adapters; 1: {}", rails_.size(), first().describe());
  for (std::size_t i = 1; i < rails_.size(); ++i)
    text += fmt::format("; {}, for large messages: {}", i + 1, rails_[i]->transport->describe());
  return text;
}

Result<void> Rails::set_peers(std::vector<Peer> peers) {
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    std::vector<Peer> theirs = peers;
    for (std::size_t node = 0; node < peers.size() && node < peers_.size(); ++node) {
      const std::string address = rail_of_address(peers[node].address, i);
      if (!address.empty() && i > 0) peers_[node].rails = i + 1;
      // On a rail that it has not nothing is ever posted to it.
      theirs[node].address = address.empty() ? rail_of_address(peers[node].address, 0) : address;
    }
    if (Result<void> set = rails_[i]->transport->set_peers(std::move(theirs)); !set) return set;
  }
  for (Of& peer : peers_) peer.on_rail.resize(peer.rails);
  return {};
}

Landing Rails::Rail::arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                              std::size_t payload) noexcept {
  Of& from = rails.of(peer);
  if (from.lost) return {};
  if (number == 0) return rails.sink_.arriving(peer, id, header, payload);
  if (id != kNotice || !header.empty() || payload != 0 || number >= from.rails) {
    rails.lose(peer, not_the_protocol(peer));
  } else {
    ++from.on_rail[number].heard;
  }
  return {};
}

void Rails::Rail::landed(int peer, void* token) noexcept {
  if (number == 0 && !rails.of(peer).lost) rails.sink_.landed(peer, token);
}

// Once, whatever rail it was.
void Rails::lose(int peer, const std::string& why) noexcept {
  if (std::exchange(of(peer).lost, true)) return;
  sink_.lost(peer, why);
}

Result<RemoteKey> Rails::expose(int peer, const void* buffer, std::size_t bytes) {
  const std::size_t rail = of(peer).rails > 1 ? nearest_() : 0;
  if (rail == 0 || rail >= of(peer).rails || of(peer).lost) return first().expose(peer, buffer, bytes);
  Transport& there = *rails_[rail]->transport;
  const auto key = there.expose(peer, buffer, bytes);
  if (!key) return first().expose(peer, buffer, bytes);
  if (there.send(peer, kNotice, {}, {}, nullptr) == Post::kNoResource) {  // much waits there
    there.conceal(*key);
    return first().expose(peer, buffer, bytes);
  }
  const std::uint64_t number = ++of(peer).on_rail[rail].told;
  return RemoteKey{{key->word[0] | number << 32, key->word[1] | std::uint64_t{rail} << 32}};
}

void Rails::conceal(const RemoteKey& key) noexcept {
  if (rail_of(key) < rails_.size()) rails_[rail_of(key)]->transport->conceal(own_key(key));
}

Post Rails::get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
                Completion* completion) noexcept {
  const std::size_t rail = rail_of(key);
  if (rail == 0) return first().get(peer, key, remote, buffer, bytes, completion);
  if (of(peer).lost) return Post::kInProgress;  // never completed: it would be taken for data
  if (rail >= of(peer).rails) {
    strangers_.push_back(peer);
    return Post::kInProgress;
  }
  const auto number = static_cast<std::uint32_t>(key.word[0] >> 32);
  const auto missing = static_cast<std::int32_t>(number - of(peer).on_rail[rail].heard);
  if (missing > 0) return Post::kNoResource;  // its notice is under way
  return rails_[rail]->transport->get(peer, own_key(key), remote, buffer, bytes, completion);
}

bool Rails::poll() noexcept {
  bool any = !strangers_.empty();
  if (any) [[unlikely]]
    for (const int peer : std::exchange(strangers_, {})) lose(peer, not_the_protocol(peer));
  for (const auto& rail : rails_) any = rail->transport->poll() || any;
  return any;
}

Arming Rails::arm(bool patient) noexcept {
  Arming all;
  all.ready = !strangers_.empty();
  for (const auto& rail : rails_) all.add(rail->transport->arm(patient));
  all.fd = watch_.get();
  return all;
}

bool Rails::idle() const noexcept {
  return std::ranges::all_of(rails_, [](const auto& rail) { return rail->transport->idle(); });
}

// In the same order everywhere: who waits for a peer on one rail does not look at the others.
bool Rails::close(double seconds) noexcept {
  const std::uint64_t start = nanoseconds_now();
  bool closed = true;
  for (auto rail = rails_.rbegin(); rail != rails_.rend(); ++rail) {
    const double elapsed = static_cast<double>(nanoseconds_now() - start) * 1e-9;
    closed = (*rail)->transport->close(std::max(0.0, seconds - elapsed)) && closed;
  }
  return closed;
}

Transport::ReceiveBuffers Rails::receive_buffers() const noexcept {
  ReceiveBuffers all;
  for (const auto& rail : rails_) {
    const ReceiveBuffers one = rail->transport->receive_buffers();
    all.bytes += one.bytes;
    all.most_bytes += one.most_bytes;
    all.pools += one.pools;
  }
  return all;
}

}  // namespace

std::string rail_of_address(std::string_view address, std::size_t rail) {
  for (; rail > 0; --rail) {
    const std::size_t between = address.find(kBetweenRails);
    if (between == std::string_view::npos) return {};
    address.remove_prefix(between + 1);
  }
  return std::string(address.substr(0, address.find(kBetweenRails)));
}

Nearest nearest_by_processor(const std::vector<std::string>& adapters) {
  std::vector<cpu_set_t> near;
  for (const std::string& adapter : adapters) near.push_back(processors_near(adapter));
  std::vector<std::size_t> by_processor(CPU_SETSIZE);
  for (std::size_t cpu = 0; cpu < by_processor.size(); ++cpu) {
    std::vector<std::size_t> nearest;
    for (std::size_t i = 0; i < near.size(); ++i)
      if (CPU_ISSET(cpu, &near[i])) nearest.push_back(i);
    by_processor[cpu] = nearest.empty() ? cpu % near.size() : nearest[cpu % nearest.size()];
  }
  return [by_processor] {
    const int cpu = sched_getcpu();
    return cpu >= 0 && cpu < CPU_SETSIZE ? by_processor[static_cast<std::size_t>(cpu)] : 0;
  };
}

Result<std::unique_ptr<Transport>> create_rails(const Api& api, const std::vector<Settings>& rails,
                                                const Options& options, Sink& sink, Nearest nearest) {
  auto made = std::make_unique<Rails>(options, sink, std::move(nearest));
  if (const Result<void> opened = made->open(api, rails, options); !opened) return opened.failure();
  return std::unique_ptr<Transport>(std::move(made));
}

Result<std::unique_ptr<Transport>> create(const Api& api, std::string_view settings, const Options& options,
                                          Sink& sink) {
  const Result<Settings> parsed = parse_settings(settings);
  if (!parsed) return parsed.failure();
  const std::vector<std::string> adapters = names_of(parsed->device);
  if (adapters.size() > 1) {
    std::vector<Settings> rails(adapters.size(), *parsed);
    for (std::size_t i = 0; i < rails.size(); ++i) rails[i].device = adapters[i];
    return create_rails(api, rails, options, sink, nearest_by_processor(adapters));
  }
  std::string why;
  auto watch = UnmapWatch::create(why);
  return Verbs::create(api, *parsed, options, sink, {std::move(watch), why});
}

}  // namespace tmpi::net::verbs
