#include "mpi/remote/engine.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/platform.hpp"
#include "mpi/base/format_into.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/remote/active.hpp"
#include "sched/metering.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::remote {
namespace {

constexpr char kArrived[] = "a message that has arrived from another node";

// More is not sent unasked, however much is wanted.
constexpr MPI_Count kMostEager = MPI_Count{1} << 30;
// Sends that nobody has matched hold up the end of the job no longer than this.
constexpr double kUnmatchedSeconds = 0.5;

template <class Header>
bool parse(std::span<const std::byte> bytes, Header& header) noexcept {
  if (bytes.size() != sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return true;
}

// How much of a large message is posted at a time where somebody posts the next piece while ranks compute: half of what
// may be under way.
MPI_Count piece_beside(const net::Limits& can) noexcept {
  return can.transfer_depth > 0 ? static_cast<MPI_Count>(can.transfer_depth) / 2 : kSegment;
}

double now() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

MPI_Count Core::piece(MPI_Count rest, bool segmented) const noexcept {
  if (segmented) rest = std::min(rest, kSegment);
  if (transfer_depth > 0) return std::min(rest, transfer_depth / 2);
  if (segmented) return rest;
  const auto segment = static_cast<MPI_Count>(transport->limits().segment);
  return segment > 0 ? std::min(rest, segment) : rest;
}

Result<std::unique_ptr<Engine>> Engine::create(const net::Options& options, const Settings& settings,
                                               MakeTransport make) {
  std::unique_ptr<Engine> engine(new Engine);
  net::Options known = options;
  known.eager = static_cast<std::size_t>(std::clamp<MPI_Count>(settings.eager_limit, 0, kMostEager));
  known.awaited = static_cast<std::uint8_t>(Kind::kData);
  known.adapts = settings.release_seconds > 0;
  auto transport = make(known, *engine);
  if (!transport) return transport.failure();
  engine->transport = std::move(*transport);
  if (settings.rendezvous == Rendezvous::kRead && !engine->transport->limits().can_get) {
    return Failure{fmt::format(
        "--rndv read: the transport \"{}\" cannot read from another node's memory; use --rndv rts-cts or "
        "early-cts, or another --net",
        options.spec)};
  }
  engine->node_ = options.node;
  engine->own_nodes_ = options.nodes;
  engine->use_settings(settings);
  engine->use_transport();
  return engine;
}

Result<std::unique_ptr<Engine>> Engine::create_for_other_jobs(const Settings& settings) {
  std::unique_ptr<Engine> engine(new Engine);
  engine->own_nodes_ = 1;
  engine->awake_.store(false, std::memory_order_relaxed);
  auto junction = net::Junction::create(nullptr, engine->own_nodes_, *engine);
  if (!junction) return junction.failure();
  engine->junction_ = junction->get();
  engine->transport = std::move(*junction);
  engine->use_settings({.eager_limit = settings.eager_limit});
  engine->use_transport();
  return engine;
}

void Engine::use_settings(const Settings& wanted) {
  const net::Limits& can = transport->limits();
  settings = wanted;
  if (!settings.rendezvous) settings.rendezvous = can.prefers_get ? Rendezvous::kRead : Rendezvous::kRtsCts;
  MPI_Count& eager = settings.eager_limit;
  if (eager < 0) eager = static_cast<MPI_Count>(can.eager);
  eager = std::min(eager, kMostEager);
  if (settings.beside) transfer_depth = 2 * piece_beside(can);
}

// Before two pieces are under way what the peer asks for meanwhile can be answered: else the answer stands behind them.
void Engine::progress_spins() noexcept {
  const net::Limits& can = transport->limits();
  if (can.transfer_depth == 0) return;
  // What the transport copies counts as gone when it is posted.
  const auto least = static_cast<MPI_Count>(can.most_buffered + kCacheLine);
  sends_.open_with(std::min(transfer_depth / 2, least));
}

void Engine::use_transport() {
  const int peers = own_nodes_ + (junction_ != nullptr ? kMostOtherNodes : 0);
  gone_.resize(static_cast<std::size_t>(peers));
  backlog.use(*transport, peers, own_nodes_);
  limits.use(backlog, *transport, node_, own_nodes_, peers, settings.eager_limit, settings.release_seconds);
  sends_.use(job()->size(), peers);
  receives_.use(own_nodes_, peers);
}

Result<void> Engine::take_other_jobs() {
  if (junction_ != nullptr) return {};
  auto junction = net::Junction::create(std::move(transport), own_nodes_, *this);
  if (!junction) return junction.failure();
  junction_ = junction->get();
  transport = std::move(*junction);
  use_transport();
  return {};
}

// ---- progress ----

bool Engine::poll() noexcept {
  if (!awake_.load(std::memory_order_acquire)) return false;
  if (!lock_.try_lock()) return false;
  const std::uint64_t start = sched::switches_metered() ? timers::now_ticks() : 0;
  run_delegations();
  bool progress = transport->poll();
  if (backlog.waiting()) progress |= backlog.post_again();
  limits.poll();
  const std::uint64_t landed = landed_now;
  leave();
  if (progress && start != 0) note_look(timers::now_ticks() - start, landed);
  return progress;
}

void Engine::note_look(std::uint64_t ticks, std::uint64_t landed) noexcept {
  moving_.fetch_add(ticks, std::memory_order_relaxed);
  if (landed == 0) return;
  // A quicker one of another thread at this moment may be missed: the next one is not.
  const std::uint64_t step = std::max<std::uint64_t>(ticks / landed, 1);
  const std::uint64_t least = step_.load(std::memory_order_relaxed);
  if (least == 0 || step < least) step_.store(step, std::memory_order_relaxed);
}

__attribute__((noinline)) void Engine::wait_to_enter() noexcept {
  const std::uint64_t start = timers::now_ticks();
  lock_.lock();
  ++waits_;
  waited_ += timers::now_ticks() - start;
}

// The caller is about to sleep, and outside of its worker by now: a task that were made ready here would lie in the
// worker's own queue, and nobody would look there. So nothing is run and nothing completed: that is left to poll().
net::Arming Engine::arm(bool patient) noexcept {
  // Whoever is inside makes progress, and may be about to go to sleep without having seen what comes after.
  if (!lock_.try_lock()) return {.ready = true};
  net::Arming arming{.ready = true};
  if (delegations_.empty()) arming = transport->arm(patient);
  const bool quiet = Core::finished.empty() && resumed.empty() && reports_.empty() &&
                     landed_now + left_now == 0 && !other_jobs_landed_ && !sends_.has_to_serve() &&
                     !receives_.has_to_serve();
  lock_.unlock_ordered();
  // seq_cst (of unlock_ordered() and empty()) pairs with submit(): what was left while this thread was inside, the
  // poll() that follows will see.
  arming.ready = arming.ready || !quiet || !delegations_.empty();
  return arming;
}

void Engine::leave() noexcept {
  do {
    run_delegations();
    if (sends_.has_to_serve() || receives_.has_to_serve()) [[unlikely]]
      run([](Sends& sends, Receives& receives) {
        sends.serve_all();
        receives.serve_all();
      });
    complete_finished();
    // seq_cst (of unlock_ordered() and empty()) pairs with submit(): a delegation that this thread does not see is
    // run by the one who has left it.
  } while (!delegations_.empty() && lock_.try_lock());
}

// Opens the lock.
inline void Engine::complete_finished() noexcept {
  Request* finished = Core::finished.take_all();
  WaitList go_on;
  go_on.take(resumed);
  std::vector<Report> reports;
  if (!reports_.empty()) [[unlikely]]
    reports.swap(reports_);
  const std::uint64_t told = std::exchange(landed_now, 0) + std::exchange(left_now, 0);
  other_jobs_landed_ = false;
  lock_.unlock_ordered();
  while (finished != nullptr) {
    Request& request = *std::exchange(finished, finished->next_finished);
    request.complete();  // may be gone now
  }
  go_on.resume_all();
  for (const Report& report : reports) {
    if (lost_hook_ != nullptr) lost_hook_(report.peer, report.why);
  }
  // Only now, when whoever waited for them has been told: until then the job is not quiet (Balance). Relaxed:
  // the questions come by way of the launcher.
  if (told != 0) landings.fetch_add(told, std::memory_order_relaxed);
}

bool Engine::end(double seconds) noexcept {
  const double start = now();
  for (;;) {
    poll();
    const double elapsed = now() - start;
    const bool empty = inside([&](Sends& sends, Receives&) {
      return !backlog.waiting() && transport->idle() && sends.moving() == 0 &&
             (sends.size() == 0 || elapsed > kUnmatchedSeconds);
    });
    if (empty || elapsed > seconds) break;
    // The transport may sleep, and we have nothing else to do.
    const timespec moment{0, 20'000};
    nanosleep(&moment, nullptr);
  }
  lock_.lock();
  const bool all = !backlog.waiting();
  const bool closed = transport->close(std::max(0.0, seconds - (now() - start)));
  leave();
  return all && closed;
}

Balance Engine::balance() const noexcept {
  // A delegation is a message that has not landed anywhere; so is data that leaves (count_leaving()).
  return {backlog.begun() + delegations_.waiting(), landings.load(std::memory_order_relaxed)};
}

ProtocolCounters Engine::read_counters() noexcept {
  return inside([&](Sends&, Receives&) {
    ProtocolCounters result = counters;
    result.deferred = backlog.deferred();
    const auto nanoseconds = [](std::uint64_t ticks) {
      return static_cast<std::uint64_t>(1e9 * timers::seconds(ticks));
    };
    result.moving = nanoseconds(moving_.load(std::memory_order_relaxed));
    result.step = nanoseconds(step_.load(std::memory_order_relaxed));
    result.can_read = transport->limits().can_get;
    result.piece = static_cast<std::uint64_t>(piece_beside(transport->limits()));
    result.waits = waits_;
    result.waited = nanoseconds(waited_);
    limits.count(result);
    return result;
  });
}

// ---- what arrives ----

net::Landing Engine::arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                              std::size_t payload) noexcept {
  if (gone_[static_cast<std::size_t>(peer)]) return {};
  return with_memory_for(kArrived, [&] { return begin(peer, static_cast<Kind>(id), header, payload); });
}

// A rank of the peer's job, which has said its number there.
std::int32_t Engine::called_here(int peer, std::int32_t rank) const noexcept {
  if (peer < own_nodes_ || rank < 0 || rank >= kMostRanks) return rank;
  const OtherJob* const other = mpi::other_jobs().with_node(peer);
  return other != nullptr ? number_here(other->index, rank) : rank;
}

[[gnu::always_inline]] inline net::Landing Engine::begin(int peer, Kind kind,
                                                         std::span<const std::byte> header,
                                                         std::size_t payload) {
  // Runs `handle` with the header of a message without data.
  const auto control = [&](auto message, auto&& handle) {
    if (payload == 0 && parse(header, message))
      handle(message);
    else
      complain(peer, "it has sent a message of a wrong size");
    return net::Landing{};
  };
  switch (kind) {
    case Kind::kEager: {
      Eager eager;
      if (parse(header, eager.envelope) ? (eager.envelope.flags & kSynchronous) == 0
                                        : parse(header, eager) && (eager.envelope.flags & kSynchronous) != 0)
        return receives_.on_eager(peer, eager, payload);
      break;
    }
    case Kind::kData: {
      Data data;
      if (parse(header, data)) return receives_.on_data(peer, data, payload);
      break;
    }
    case Kind::kRts:
      return control(Rts{}, [&](const Rts& rts) {
        if (rts.address != 0 && peer >= own_nodes_)
          return complain(peer, "it has offered memory to be read by another job");
        receives_.on_rts(peer, rts);
      });
    case Kind::kCts:
      return control(Cts{}, [&](const Cts& cts) { sends_.on_cts(peer, cts); });
    case Kind::kFin:
      return control(Transfer{}, [&](const Transfer& fin) { sends_.on_fin(peer, fin); });
    case Kind::kCredit:
      return control(Credit{}, [&](Credit& credit) {
        credit.dest = called_here(peer, credit.dest);
        sends_.on_credit(peer, credit);
      });
    case Kind::kAnnounce:
    case Kind::kRetract:
      return control(Announce{}, [&](Announce& announce) {
        announce.receiver = called_here(peer, announce.receiver);
        kind == Kind::kAnnounce ? sends_.on_announce(announce) : sends_.on_retract(announce);
      });
    case Kind::kCancel:
      return control(Cancel{}, [&](const Cancel& cancel) { receives_.on_cancel(peer, cancel); });
    case Kind::kCancelReply:
      return control(CancelReply{}, [&](const CancelReply& reply) { sends_.on_cancel_reply(peer, reply); });
    case Kind::kLimit:
    case Kind::kSwitched:
      return control(LimitChange{}, [&](const LimitChange& change) {
        if ((kind == Kind::kSwitched) != (change.step == static_cast<std::uint32_t>(SwitchStep::kSwitched)) ||
            !limits.on_change(peer, change))
          complain(peer, "it has changed the eager limit in a way that was not agreed");
      });
    case Kind::kComputing:
      return control(Computing{}, [&](const Computing& computing) {
        if (computing.now > 1 || !limits.on_computing(peer, computing.now != 0))
          complain(peer, "it has said whether its ranks compute, in a way that makes no sense");
      });
    case Kind::kOneSided:
      if (const ActiveHandlers* const handlers = active_handlers(); handlers != nullptr && peer < own_nodes_)
        return handlers->arriving(*this, peer, header, payload);
      break;
  }
  char what[80];
  complain(peer, format_into(what, "it has sent a message that no protocol knows (kind {})",
                             static_cast<int>(kind)));
  return {};
}

void Engine::landed(int peer, void* token) noexcept {
  // What other jobs send is no part of this job's balance.
  peer < own_nodes_ ? count_landed() : static_cast<void>(other_jobs_landed_ = true);
  if (gone_[static_cast<std::size_t>(peer)]) return;
  with_memory_for(kArrived, [&] {
    if (token != nullptr) {
      active_handlers()->landed(*this, peer, token);
    } else {
      receives_.landed(peer);
    }
  });
  run_delegations();  // more may come in here for long
}

void Engine::lost(int peer, const std::string& why) noexcept {
  lose(peer, why);
}

void Engine::lose(int peer, std::string_view why) noexcept {
  if (gone_[static_cast<std::size_t>(peer)]) return;
  gone_[static_cast<std::size_t>(peer)] = true;
  backlog.forget(peer);
  try {
    reports_.push_back({peer, std::string(why)});
  } catch (const std::exception&) {
    char what[256];
    format_into(what, "word of the loss of node {} ({})", peer, why);
    end_for_no_memory(what);
  }
}

void Engine::complain(int peer, std::string_view what) noexcept {
  char why[256];
  lose(peer, format_into(why, "{}: its memory is damaged, or it is no node process of this tmpi", what));
}

}  // namespace tmpi::mpi::remote
