#include "mpi/tool/events.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "mpi/base/no_memory.hpp"
#include "mpi/coll/table.hpp"
#include "mpi/comm/context.hpp"
#include "mpi/p2p/observer.hpp"
#include "mpi/tool/activity.hpp"
#include "sched/sleep.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::tool {
namespace {

constexpr MPI_T_cb_safety kLevels[kSafeties] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                                MPI_T_CB_REQUIRE_THREAD_SAFE,
                                                MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

Events* events_at(Rank& rank) noexcept {
  return rank.figures.events.load(std::memory_order_acquire);
}

// Between two statements of the library, on the sender's flow of control. A helper fiber is not where the program is; and
// in the middle of a collective the program must not begin another one.
void on_sent(Rank& from, int to, const MatchKey& key, MPI_Count bytes) noexcept {
  Events* const events = events_at(from);
  if (events == nullptr) return;
  const MessageEvent event{base_of(key.context), bytes, to, key.tag};
  const bool between = sched::current() == from.task && (key.context & kCollective) == 0;
  if (events->note(EventKind::kMessageSent, event))
    events->deliver(between ? Safety::kAnything : Safety::kRestricted);
}

void on_received(Rank& to, const MatchKey& key, MPI_Count bytes) noexcept {
  Events* const events = events_at(to);
  if (events == nullptr) return;
  const MessageEvent event{base_of(key.context), bytes, key.source, key.tag};
  if (events->note(EventKind::kMessageReceived, event)) sched::interrupt(*to.task);
}

constexpr MessageObserver kMessages{.sent = on_sent, .received = on_received};

void on_choice(Rank& rank, const Algorithm& algorithm, const Query& query) noexcept {
  Events* const events = events_at(rank);
  if (events == nullptr) return;
  AlgorithmEvent event{query.bytes, static_cast<int>(algorithm.collective), 0, query.ranks};
  const auto rows = algorithms(algorithm.collective);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (&rows[i].get() == &algorithm) event.algorithm = static_cast<int>(i) + 1;
  }
  if (events->note(EventKind::kAlgorithm, event)) events->deliver(Safety::kRestricted);
}

// Ranks that want to know of messages, and of choices.
std::mutex demanding;
int message_demands = 0;

// The callback to be called where no more than `safety` is asked of it; kSafeties: there is none.
int callback_for(const Registration& registration, Safety safety) noexcept {
  int index = static_cast<int>(safety);
  while (index < kSafeties && registration.callbacks[static_cast<std::size_t>(index)].function == nullptr)
    ++index;
  return index;
}

bool has_callback(const Registration& registration) noexcept {
  return callback_for(registration, Safety::kAnything) < kSafeties;
}

}  // namespace

MPI_T_cb_safety level_of(Safety safety) noexcept {
  return kLevels[static_cast<std::size_t>(safety)];
}

int safety_from(MPI_T_cb_safety level) noexcept {
  const auto* const found = std::ranges::find(kLevels, level);
  return found == std::end(kLevels) ? -1 : static_cast<int>(found - kLevels);
}

Events::~Events() {
  free_all();
}

void Events::free_all() {
  for (const auto& registration : registrations_) {
    if (registration->freed) continue;
    if (has_callback(*registration)) demand(registration->kind, -1);
    registration->freed = true;
  }
  sweep();
}

// ---- Registrations

Registration& Events::allocate(EventKind kind) {
  auto made = std::make_unique<Registration>();
  made->kind = kind;
  made->ring = std::make_unique<EventRecord[]>(kCapacity);
  const std::scoped_lock lock(lock_);
  return *registrations_.emplace_back(std::move(made));
}

Registration* Events::find(const void* handle) const noexcept {
  const std::scoped_lock lock(lock_);
  for (const auto& registration : registrations_) {
    if (registration.get() == handle && !registration->freed) return registration.get();
  }
  return nullptr;
}

void Events::demand(EventKind kind, int change) {
  wanted_[static_cast<std::size_t>(kind)].fetch_add(change, std::memory_order_relaxed);
  switch (kind) {
    case EventKind::kMessageSent:
    case EventKind::kMessageReceived: {
      const std::scoped_lock lock(demanding);
      message_demands += change;
      if (change > 0 && message_demands == 1) observe_messages(kMessages);
      if (change < 0 && message_demands == 0) forget_messages(kMessages);
      break;
    }
    case EventKind::kResumed:
      if (change > 0) account_switches_of(rank_);
      break;
    case EventKind::kAlgorithm:
      if (change > 0) observe_choices(&on_choice);  // asked seldom enough to stay
      break;
  }
}

void Events::set_callback(Registration& registration, Safety safety, Registration::Callback callback) {
  bool before, now;
  {
    const std::scoped_lock lock(lock_);
    before = has_callback(registration);
    std::swap(registration.callbacks[static_cast<std::size_t>(safety)], callback);
    now = has_callback(registration);
  }
  if (before != now) demand(registration.kind, now ? 1 : -1);
}

void Events::free(Registration& registration, MPI_T_event_free_cb_function* freed, void* user_data) {
  if (sched::current() == rank_.task) deliver(Safety::kAnything);
  bool had_callback;
  {
    const std::scoped_lock lock(lock_);
    if (std::exchange(registration.freed, true)) return;  // another thread is at it
    had_callback = has_callback(registration);
  }
  if (had_callback) demand(registration.kind, -1);
  if (freed != nullptr) {
    call_program("function for the end of an event registration", [&] {
      freed(reinterpret_cast<MPI_T_event_registration>(&registration), level_of(Safety::kAnything),
            user_data);
    });
  }
  sweep();
}

// Not while one of them is being looked at by deliver().
void Events::sweep() noexcept {
  const std::scoped_lock lock(lock_);
  if (!delivering_) std::erase_if(registrations_, [](const auto& each) { return each->freed; });
}

// ---- What happens

bool Events::note(EventKind kind, const std::byte* data, std::size_t size) noexcept {
  if (wanted_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed) == 0) return false;
  const std::scoped_lock lock(lock_);
  const std::uint64_t ticks = timers::now_ticks();
  const std::uint64_t number = ++number_;
  for (const auto& registration : registrations_) {
    if (registration->kind != kind || registration->freed || !has_callback(*registration)) continue;
    if (registration->waiting == kCapacity) {
      ++registration->dropped;
      continue;
    }
    EventRecord& record = registration->ring[(registration->first + registration->waiting++) % kCapacity];
    record.ticks = ticks;
    record.number = number;
    record.kind = kind;
    std::memcpy(record.data.data(), data, size);
  }
  return true;
}

void Events::on_resumed(Rank& rank, std::uint64_t waited, std::uint64_t idled) noexcept {
  const ResumedEvent event{timers::seconds(waited), timers::seconds(idled)};
  // One that sleeps would be woken by it; and then go to sleep, and be resumed.
  if (note(EventKind::kResumed, event) && rank.task->sleeper == nullptr) sched::interrupt(*rank.task);
}

// ---- Delivery

const EventRecord* Events::current(MPI_T_event_instance instance) const noexcept {
  return reinterpret_cast<const EventRecord*>(instance) == current_ ? current_ : nullptr;
}

// The oldest event: one that has to wait keeps those behind it waiting, since the source is ordered. False: none.
bool Events::deliver_next(Safety safety) noexcept {
  EventRecord record;
  Registration* next = nullptr;
  Registration::Callback callback;
  int level = kSafeties;
  {
    const std::scoped_lock lock(lock_);
    for (const auto& each : registrations_) {
      if (each->waiting == 0 || each->freed || !has_callback(*each)) continue;
      if (next == nullptr || each->ring[each->first].number < next->ring[next->first].number)
        next = each.get();
    }
    if (next == nullptr || callback_for(*next, safety) == kSafeties) return false;
    record = next->ring[next->first];
    next->first = (next->first + 1) % kCapacity;
    --next->waiting;
    level = callback_for(*next, safety);
    callback = next->callbacks[static_cast<std::size_t>(level)];
  }
  current_ = &record;
  call_program("event callback", [&] {
    callback.function(reinterpret_cast<MPI_T_event_instance>(&record),
                      reinterpret_cast<MPI_T_event_registration>(next), level_of(safety), callback.user_data);
  });
  current_ = nullptr;
  return true;
}

void Events::tell_dropped(Safety safety) noexcept {
  for (std::size_t i = 0;; ++i) {  // the function may add some
    Registration* each;
    Registration::Callback callback;
    MPI_T_event_dropped_cb_function* on_dropped;
    MPI_Count count;
    {
      const std::scoped_lock lock(lock_);
      if (i >= registrations_.size()) return;
      each = registrations_[i].get();
      const int level = callback_for(*each, safety);
      if (each->freed || each->on_dropped == nullptr || level == kSafeties) continue;
      count = std::exchange(each->dropped, 0);
      callback = each->callbacks[static_cast<std::size_t>(level)];
      on_dropped = each->on_dropped;
    }
    if (count == 0) continue;
    call_program("function for dropped events", [&] {
      on_dropped(count, reinterpret_cast<MPI_T_event_registration>(each),
                 event_types()[static_cast<std::size_t>(each->kind)].source, level_of(safety),
                 callback.user_data);
    });
  }
}

void Events::deliver(Safety safety) noexcept {
  {
    const std::scoped_lock lock(lock_);
    if (delivering_) return;
    delivering_ = true;
  }
  while (deliver_next(safety)) {
  }
  tell_dropped(safety);
  {
    const std::scoped_lock lock(lock_);
    delivering_ = false;
  }
  sweep();
}

Events& events_of(Rank& rank) {
  Events* events = events_at(rank);
  if (events == nullptr) {
    events = new Events(rank);  // stays: others may be noting something at any time
    rank.figures.events.store(events, std::memory_order_release);
  }
  return *events;
}

void deliver_events(Rank& rank) noexcept {
  if (Events* const events = events_at(rank)) events->deliver(Safety::kRestricted);
}

}  // namespace tmpi::mpi::tool
