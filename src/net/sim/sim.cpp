#include "net/sim/sim.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/of_thread.hpp"
#include "net/maker.hpp"
#include "net/proof.hpp"
#include "net/sim/settings.hpp"
#include "net/sim/sim_limits.hpp"
#include "timers/clock.hpp"

namespace tmpi::net::sim {
namespace {

// The value of a line of /proc/self/status, in hexadecimal; 0 if there is none.
std::uint64_t own_status(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 16);
  return 0;
}

// Why other node processes, all descendants of `ancestor`, cannot read this one's memory; empty if they can. Lets them do so, and
// nobody else.
std::string permit_reading(pid_t ancestor) {
  char from = 1, to = 0;
  const iovec local{&to, 1}, remote{&from, 1};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1)
    return fmt::format("process_vm_readv: {}", std::strerror(errno));
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope == 0) return {};
  if (scope == 1 && ancestor > 0 && prctl(PR_SET_PTRACER, ancestor, 0, 0, 0) == 0) return {};
  if (scope == 1)
    return "/proc/sys/kernel/yama/ptrace_scope is 1, and tmpirun has not started all node processes";
  constexpr std::uint64_t kSysPtrace = std::uint64_t{1} << 19;
  if (scope == 2 && (own_status("CapEff:") & kSysPtrace) != 0) return {};
  return fmt::format("/proc/sys/kernel/yama/ptrace_scope is {}", scope);
}

std::string show_time(Nanoseconds time) {
  if (time >= 10'000'000) return fmt::format("{:g} ms", static_cast<double>(time) / 1e6);
  if (time >= 1000) return fmt::format("{:g} us", static_cast<double>(time) / 1e3);
  return fmt::format("{} ns", time);
}

// What an interface of that bandwidth moves in kDepthTime on the model's clock.
std::size_t depth_of(const Model& model) {
  if (model.per_byte <= 0) return kMostDepth;
  const double bytes = std::max(kLeastDepthTime, kDepthTime * model.dilation) / model.per_byte;
  return static_cast<std::size_t>(std::clamp(bytes, double{kLeastDepth}, double{kMostDepth})) / 1024 * 1024;
}

// The timer of a sleeping thread may be late by its slack, 50 us if nothing is said: as much as the wires
// that are modelled.
void be_punctual() noexcept {
  static thread_local bool done = false;
  if (!std::exchange(of_thread(done), true)) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

}  // namespace

Sim::Sim(const Model& model, const Options& options, Sink& sink, Segment segment)
    : model_(model),
      node_(options.node),
      nodes_(options.nodes),
      eager_(options.eager != 0 ? options.eager : kMostBuffered),
      awaited_(options.awaited),
      adapts_(options.adapts),
      sink_(sink),
      segment_(std::move(segment)),
      exposed_(&segment_.state().exposed) {}

Result<std::unique_ptr<Transport>> Sim::make(std::string_view settings, const Options& options, Sink& sink) {
  const Result<Model> model = parse_settings(settings);
  if (!model) return model.failure();
  if (!options.same_machine)
    return Failure{
        "--net sim models a wire between node processes of one machine, and these are on several; "
        "use --nodes without --host, or --net tcp"};
  if (!prepare_proofs()) return Failure{"--net sim: the system gives no random numbers"};
  Result<Segment> segment = Segment::create(options.nodes);
  if (!segment) return segment.failure();
  std::unique_ptr<Sim> sim(new Sim(*model, options, sink, std::move(*segment)));
  if (const Result<void> prepared = sim->prepare(options.ancestor); !prepared) return prepared.failure();
  return std::unique_ptr<Transport>(std::move(sim));
}

Result<void> Sim::prepare(pid_t ancestor) {
  no_get_ = permit_reading(ancestor);
  limits_ = {.most_header = kMostHeader,
             .most_buffered = kMostBuffered,
             .eager = kMostBuffered,
             .segment = 0,
             .transfer_depth = depth_of(model_),
             .can_get = no_get_.empty()};
  address_ = segment_.address();
  watch_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<std::uint32_t>(node_)}};
  if (!watch_ || epoll_ctl(watch_.get(), EPOLL_CTL_ADD, segment_.wake_descriptor(), &event) != 0)
    return Failure{fmt::format("--net sim: epoll: {}", std::strerror(errno))};
  watch_ticks_ = timers::ticks(kWatchSeconds);
  period_ticks_ = timers::ticks(kPoolSeconds);
  departed_.resize(kMostDepartures);
  gets_.resize(kMostGets);
  for (int slot = kMostGets; slot-- > 0;) free_gets_.push_back(slot);
  active_gets_.reserve(kMostGets);
  const auto nodes = static_cast<std::size_t>(nodes_);
  rests_.reserve(nodes);
  listening_.reserve(nodes);
  failed_.reserve(nodes);
  return {};
}

Sim::~Sim() {
  if (!closed_) end_contacts(Life::kAbandoned);
}

std::string Sim::describe() const {
  return fmt::format(
      "sim: modelled wire, latency {}, bandwidth {:.4g} GB/s, overhead {}, gap {}{}{}{}",
      show_time(model_.latency), 1 / model_.per_byte, show_time(model_.overhead), show_time(model_.gap),
      model_.jitter > 0 ? fmt::format(", jitter {} (seed {})", show_time(model_.jitter), model_.seed) : "",
      model_.dilation != 1 ? fmt::format(", all dilated by {:g}", model_.dilation) : "",
      no_get_.empty() ? "" : fmt::format("; no reads of other nodes' memory: {}", no_get_));
}

Result<void> Sim::set_peers(std::vector<net::Peer> peers) {
  if (peers.size() != static_cast<std::size_t>(nodes_))
    return Failure{fmt::format("--net sim: {} addresses for {} nodes", peers.size(), nodes_)};
  peers_.resize(peers.size());
  for (int node = 0; node < nodes_; ++node) {
    const auto at = static_cast<std::size_t>(node);
    if (!is_segment_address(peers[at].address))
      return Failure{fmt::format("--net sim: node {} on {} has the address \"{}\": it does not use --net sim",
                                 node, peers[at].host, peers[at].address)};
    peers_[at].address = std::move(peers[at].address);
    peers_[at].in = segment_.from(node);
    peers_[at].eager[0] = eager_;
    peers_[at].jitter = Jitter(model_, static_cast<std::uint64_t>(node_) * kMostNodes + at);
  }
  return {};
}

Result<RemoteKey> Sim::expose(int, const void* buffer, std::size_t bytes) {
  if (const auto key = exposed_.expose(buffer, bytes)) return *key;
  return Failure{fmt::format("--net sim: a node exposes at most {} pieces of memory at a time",
                             static_cast<unsigned>(ExposedTable::kSlots))};
}

void Sim::conceal(const RemoteKey& key) noexcept {
  exposed_.conceal(key);
}

bool Sim::poll() noexcept {
  const std::uint64_t ticks = timers::now_ticks();
  if (ticks - watched_ > watch_ticks_) {
    watched_ = ticks;
    watch_processes();
    if (ticks - period_ > period_ticks_) {
      period_ = ticks;
      pools_.end_period();
    }
  }
  bool progress = drain_inbox();
  if (departed_head_ != departed_tail_ && complete_departed()) progress = true;
  if (!rests_.empty() && push_rests()) progress = true;
  if ((!listening_.empty() || !active_gets_.empty()) && deliver_arrivals()) progress = true;
  if (!failed_.empty() && report_lost()) progress = true;
  return progress;
}

// Who is patient hears of a buffer that is free when half of what follows it has left, too.
Nanoseconds Sim::next_departure(bool patient) const noexcept {
  if (departed_head_ == departed_tail_) return kNever;
  const Nanoseconds first = departed_[departed_head_ % departed_.size()].time;
  if (!patient || departed_head_ + 1 == departed_tail_) return first;
  return first + (departed_[(departed_head_ + 1) % departed_.size()].time - first) / 2;
}

// When the first one arrives, of what lies in the rings, that may be a step of a protocol.
Nanoseconds Sim::next_small_arrival() noexcept {
  Nanoseconds first = kNever;
  for (const int node : listening_) {
    Peer& peer = peers_[static_cast<std::size_t>(node)];
    Record* record = peer.lost ? nullptr : peer.in.front();
    for (int i = 0; i < kLookAhead && record != nullptr; ++i, record = peer.in.behind(*record)) {
      if (record->data > kMostBuffered) continue;
      first = std::min(first, record->arrives + model_.wire_time(record->header + record->data));
      break;
    }
  }
  return first;
}

// When there will be something to do, as far as is known. Who is patient lets a piece of something large lie for half of
// the time that it has taken, unless something small is behind it: it wakes up once for what comes and for what leaves.
Nanoseconds Sim::next_event(bool patient) noexcept {
  const Nanoseconds departure = next_departure(patient);
  Arrivals::Piece piece = arrivals_.current();
  const bool busy = arrivals_.busy();
  if (!busy) piece = earliest();
  if (piece.source < 0) return departure;
  Nanoseconds arrival = busy ? arrivals_.complete() : arrivals_.estimate(model_, piece);
  if (patient && piece.bytes > kMostBuffered + kMostHeader)
    arrival = std::min(arrival + model_.wire_time(piece.bytes) / 2, std::max(arrival, next_small_arrival()));
  return std::min(departure, arrival);
}

// Something will happen then: a worker that sleeps until later must be woken.
void Sim::expect_event(Nanoseconds time) noexcept {
  if (time >= sleeps_until_) return;
  sleeps_until_ = 0;
  segment_.wake_self();
}

Arming Sim::arm(bool patient) noexcept {
  const Nanoseconds wake_up = patient ? 0 : kWakeUp;
  NodeState& state = segment_.state();
  be_punctual();
  watched_ = 0;
  segment_.clear_wake_ups();
  state.asleep.store(kNever, std::memory_order_seq_cst);  // pairs with notify()
  const Nanoseconds next = next_event(patient);
  const Nanoseconds left = next == kNever ? kNever : next - now();
  if (!state.inbox_empty(nodes_) || !failed_.empty() || left <= wake_up) {
    state.asleep.store(0, std::memory_order_relaxed);
    return {.ready = true};
  }
  sleeps_until_ = next;
  // What comes later than that need not wake anybody. Relaxed: who still reads kNever wakes it for nothing.
  state.asleep.store(next, std::memory_order_relaxed);
  return {.fd = watch_.get(), .nanoseconds = next == kNever ? 0 : static_cast<std::uint64_t>(left - wake_up)};
}

bool Sim::idle() const noexcept {
  return departed_head_ == departed_tail_ && rests_.empty();
}

bool Sim::close(double seconds) noexcept {
  const Nanoseconds until = now() + static_cast<Nanoseconds>(seconds * 1e9);
  bool sent = true;
  while (!idle() && now() < until) {
    if (complete_departed() || push_rests()) continue;
    watch_processes();
    for (std::size_t i = rests_.size(); i-- > 0;) {
      if (!peers_[static_cast<std::size_t>(rests_[i])].ended) continue;
      drop_rest(rests_[i]);
      sent = false;
    }
    usleep(100);
  }
  sent = sent && idle();
  while (!rests_.empty()) drop_rest(rests_.back());
  while (departed_head_ != departed_tail_) {
    Completion& completion = *departed_[departed_head_++ % departed_.size()].completion;
    completion.done(completion);
  }
  closed_ = true;
  end_contacts(sent ? Life::kClosed : Life::kAbandoned);
  return sent;
}

}  // namespace tmpi::net::sim

namespace tmpi::net {
namespace {

Result<void> check(std::string_view settings) {
  const Result<sim::Model> model = sim::parse_settings(settings);
  return model ? Result<void>() : Result<void>(model.failure());
}

}  // namespace

namespace sim {
namespace {

constexpr NamedLimit kNamedLimits[] = {
    {"sim_buffered", kMostBuffered,
     "Bytes of the largest message of which sim takes a copy if it cannot leave at once."},
    {"sim_piece", kPiece, "Bytes of the pieces in which messages travel."},
    {"sim_least_depth", kLeastDepth,
     "Bytes of large messages that had better be under way to a peer at a time, at least."},
    {"sim_most_depth", kMostDepth, "The same, at most."},
    {"sim_departures", kMostDepartures, "Sends whose buffers are not free yet, at a time."},
    {"sim_gets", kMostGets, "Reads of other processes' memory, at a time."},
    {"sim_look_ahead", kLookAhead, "Records of a ring that are looked at for something small."},
    {"sim_deliveries", kDeliveries, "Deliveries of one look at the network."},
    {"sim_nodes", kMostNodes, "Node processes that one such network can have."},
    {"sim_header", kMostHeader, "Bytes of the longest header of a message."},
};

}  // namespace
}  // namespace sim

const Maker kSim = {sim::kSettingsHelp, sim::Sim::make, check, nullptr, nullptr, nullptr, sim::kNamedLimits};

}  // namespace tmpi::net
