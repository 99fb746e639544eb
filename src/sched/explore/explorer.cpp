#include "sched/explore/explorer.hpp"

#include <fmt/format.h>

#include <utility>

#include "ult/switch.hpp"

namespace tmpi::sched::check {
namespace {

using detail::Kind;

constexpr int kMostThreads = 8;
constexpr int kMostStores = 4;  // not visible yet, of one thread
constexpr std::size_t kStackSize = 16 * 1024;
constexpr std::size_t kCleared = 1024;  // below a stack's live part: calls that have returned leave no trace
constexpr std::size_t kMemory = 8 * 1024;

enum class Wait : std::uint8_t { kNothing, kFutex, kPoll, kPollNetwork, kCondition, kEnd };

struct Store {
  void* address;
  std::uint64_t value;
  std::size_t size;
};

struct Thread {
  ult::Fiber fiber;
  Body body;
  void* argument;
  const char* name;
  bool (*done)(void*);  // Wait::kCondition
  void* done_argument;
  const void* object;  // of the step to come
  Store stores[kMostStores];
  std::uint32_t held;  // stores that are not visible yet
  Wait wait;
  Kind kind;
};

/// All that a state is, but for the stacks.
struct World {
  Thread threads[kMostThreads];
  std::uint32_t count;
  bool signalled;  // the event descriptor
  bool network;
  std::uint64_t used;
  alignas(64) std::byte memory[kMemory];
};

alignas(64) World world;
alignas(64) std::byte stacks[kMostThreads][kStackSize];
ult::Thread os_thread;
ult::Fiber explorer;
Thread* running = nullptr;
std::string problem;
std::vector<std::pair<const void*, std::string>> names;

std::byte* live_part(const Thread& thread) {
  return static_cast<std::byte*>(thread.fiber.context);
}
std::byte* stack_end(int index) {
  return stacks[index] + kStackSize;
}

// ---- Threads ----

void suspend() noexcept {
  ult::switch_to(os_thread, running->fiber, explorer);
}

void thread_main(ult::Fiber& fiber) noexcept {
  Thread& self = reinterpret_cast<Thread&>(fiber);  // its first member
  self.body(self.argument);
  self.wait = Wait::kEnd;
  ult::switch_to(os_thread, self.fiber, explorer);
}

void make_visible(Thread& thread, std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    std::memcpy(thread.stores[i].address, &thread.stores[i].value, thread.stores[i].size);
  for (std::uint32_t i = count; i < kMostStores; ++i) {
    thread.stores[i - count] = thread.stores[i];
    thread.stores[i] = {};
  }
  thread.held -= count;
}

// Runs a thread up to its next step, or until it waits or ends.
void run(Thread& thread) noexcept {
  thread.wait = Wait::kNothing;
  running = &thread;
  ult::switch_to(os_thread, explorer, thread.fiber);
  running = nullptr;
  std::memset(live_part(thread) - kCleared, 0, kCleared);
}

bool enabled(const Thread& thread) noexcept {
  switch (thread.wait) {
    case Wait::kNothing:
      return true;
    case Wait::kPoll:
      return world.signalled;
    case Wait::kPollNetwork:
      return world.signalled || world.network;
    case Wait::kCondition:
      return thread.done(thread.done_argument);
    case Wait::kFutex:
    case Wait::kEnd:
      break;
  }
  return false;
}

// ---- States ----

std::uint64_t mix(std::uint64_t hash, const void* begin, const void* end) noexcept {
  const auto* at = static_cast<const std::byte*>(begin);
  for (; at < static_cast<const std::byte*>(end); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

std::uint64_t hash_of_state() noexcept {
  std::uint64_t hash = mix(1, world.threads, world.threads + world.count);
  const std::uint64_t flags = (world.signalled ? 1u : 0u) | (world.network ? 2u : 0u);
  hash = mix(hash, &flags, &flags + 1);
  hash = mix(hash, world.memory, world.memory + world.used);
  for (std::uint32_t i = 0; i < world.count; ++i) {
    if (world.threads[i].wait != Wait::kEnd)
      hash = mix(hash, live_part(world.threads[i]), stack_end(static_cast<int>(i)));
  }
  return hash;
}

/// Saved states, one behind the other.
class Saved {
 public:
  void save() {
    starts_.push_back(bytes_.size());
    add(&world, offsetof(World, memory) + world.used);
    for (std::uint32_t i = 0; i < world.count; ++i) add(live_part(world.threads[i]), depth(i));
  }
  void restore() {
    const std::byte* at = bytes_.data() + starts_.back();
    const std::size_t size = offsetof(World, memory) + world.used;  // `used` is the same in all states
    std::memcpy(static_cast<void*>(&world), at, size);
    at += size;
    for (std::uint32_t i = 0; i < world.count; ++i) {
      std::memcpy(live_part(world.threads[i]), at, depth(i));
      std::memset(live_part(world.threads[i]) - kCleared, 0, kCleared);
      at += depth(i);
    }
  }
  void drop() {
    bytes_.resize(starts_.back());
    starts_.pop_back();
  }

 private:
  static std::size_t depth(std::uint32_t i) {
    return static_cast<std::size_t>(stack_end(static_cast<int>(i)) - live_part(world.threads[i]));
  }
  void add(const void* from, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }

  std::vector<std::byte> bytes_;
  std::vector<std::size_t> starts_;
};

// ---- Problems ----

// By the named object that it is, or lies behind.
std::string name_of(const void* address) {
  const std::pair<const void*, std::string>* nearest = nullptr;
  for (const auto& named : names) {
    if (named.first <= address && (nearest == nullptr || named.first > nearest->first)) nearest = &named;
  }
  if (nearest == nullptr) return "";
  const auto behind = static_cast<const std::byte*>(address) - static_cast<const std::byte*>(nearest->first);
  return behind == 0 ? nearest->second : fmt::format("{} + {}", nearest->second, behind);
}

const char* name_of(Kind kind) {
  static constexpr const char* kNames[] = {"load",   "store", "change", "futex wait", "futex wake",
                                           "signal", "poll",  "await",  "barrier",    "yield"};
  return kNames[static_cast<int>(kind)];
}

// ---- The search ----

/// What can be done in a state: a step of thread i, or (i + kMostThreads) its oldest store becomes visible.
struct State {
  std::uint8_t choices[2 * kMostThreads];
  std::uint8_t count = 0;
  std::uint8_t next = 0;
  bool saved = false;
  bool ran_on = false;           // the thread that has come here could go on: others preempt it
  std::uint8_t ran = 0;          // that thread
  std::uint8_t preemptions = 0;  // on the way here
};

/// After a step of thread `ran`, with `left` preemptions left (negative: no limit).
State state_here(std::uint8_t ran, int preemptions, int left) {
  State state;
  state.ran = ran;
  state.preemptions = static_cast<std::uint8_t>(preemptions);
  state.ran_on = enabled(world.threads[ran]);
  for (std::uint32_t n = 0; n < world.count; ++n) {
    const std::uint32_t i = (n + ran) % world.count;
    if (enabled(world.threads[i]) && (i == ran || !state.ran_on || left != 0))
      state.choices[state.count++] = static_cast<std::uint8_t>(i);
    if (world.threads[i].held > 0) state.choices[state.count++] = static_cast<std::uint8_t>(i + kMostThreads);
  }
  return state;
}

/// The states that have been seen, with the fewest preemptions on a way there.
class Seen {
 public:
  Seen() : slots_(1 << 16) {}
  /// True if the state is new, or reached with fewer preemptions than before.
  bool add(std::uint64_t hash, int preemptions) {
    if (count_ * 4 > slots_.size() * 3) grow();
    Slot& slot = place_of(slots_, hash);
    const auto now = static_cast<std::uint64_t>(preemptions);
    if (slot.hash != hash) {
      slot = {hash, now};
      ++count_;
      return true;
    }
    if (slot.preemptions <= now) return false;
    slot.preemptions = now;
    return true;
  }
  std::uint64_t count() const { return count_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;  // no state's, let us say
    std::uint64_t preemptions = 0;
  };
  static Slot& place_of(std::vector<Slot>& slots, std::uint64_t hash) {
    std::size_t at = hash & (slots.size() - 1);
    while (slots[at].hash != 0 && slots[at].hash != hash) at = (at + 1) & (slots.size() - 1);
    return slots[at];
  }
  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    for (const Slot& slot : slots_) {
      if (slot.hash != 0) place_of(larger, slot.hash) = slot;
    }
    slots_.swap(larger);
  }

  std::vector<Slot> slots_;
  std::uint64_t count_ = 0;
};

std::string describe(std::uint8_t choice) {
  const Thread& thread = world.threads[choice % kMostThreads];
  if (choice >= kMostThreads)
    return fmt::format("{}: its store to {} is seen", thread.name, name_of(thread.stores[0].address));
  return fmt::format("{}: {} {}", thread.name, name_of(thread.kind), name_of(thread.object));
}

void apply(std::uint8_t choice) {
  Thread& thread = world.threads[choice % kMostThreads];
  if (choice >= kMostThreads) {
    make_visible(thread, 1);
  } else {
    run(thread);
  }
}

void begin(void (*set_up)()) {
  std::memset(static_cast<void*>(&world), 0, sizeof world);
  std::memset(stacks, 0, sizeof stacks);
  names.clear();
  set_up();
  for (std::uint32_t i = 0; i < world.count; ++i) run(world.threads[i]);  // to its first step
}

std::string end_of(const Thread& thread) {
  switch (thread.wait) {
    case Wait::kEnd:
      return "has ended";
    case Wait::kFutex:
      return fmt::format("sleeps at {}", name_of(thread.object));
    case Wait::kPoll:
    case Wait::kPollNetwork:
      return "sleeps at the event descriptor";
    default:
      return fmt::format("is before {} {}", name_of(thread.kind), name_of(thread.object));
  }
}

// The way to the present state, walked again.
std::string story(void (*set_up)(), const std::vector<State>& path) {
  std::string text;
  begin(set_up);
  for (const State& state : path) {
    if (state.next == 0) break;  // nothing has been tried there yet
    const std::uint8_t choice = state.choices[state.next - 1];
    if (text.size() < 20'000) text += "  " + describe(choice) + "\n";
    apply(choice);
  }
  for (std::uint32_t i = 0; i < world.count; ++i)
    text += fmt::format("  in the end {} {}\n", world.threads[i].name, end_of(world.threads[i]));
  return text;
}

bool all_ended() {
  for (std::uint32_t i = 0; i < world.count; ++i) {
    if (world.threads[i].wait != Wait::kEnd) return false;
  }
  return true;
}

}  // namespace

Result explore(void (*set_up)(), const Limits& limits) {
  Result result;
  problem.clear();
  ult::attach(os_thread, explorer);
  const bool bounded = limits.preemptions >= 0;
  Seen seen;
  std::vector<State> path;
  Saved saved;
  begin(set_up);
  path.push_back(state_here(0, 0, -1));
  path.back().ran_on = false;  // whoever begins
  while (!path.empty() && problem.empty() && seen.count() < limits.states) {
    State& state = path.back();
    if (state.next == state.count) {
      if (state.saved) saved.drop();
      path.pop_back();
      continue;
    }
    if (state.saved) {
      saved.restore();
    } else if (state.count > 1) {
      saved.save();
      state.saved = true;
    }
    const std::uint8_t choice = state.choices[state.next++];
    const bool store = choice >= kMostThreads;  // no thread goes on by that
    const int preemptions = state.preemptions + (!store && state.ran_on && choice != state.ran ? 1 : 0);
    const std::uint8_t ran = store ? state.ran : choice;
    apply(choice);
    ++result.steps;
    if (!problem.empty()) break;
    const std::uint64_t hash = hash_of_state() + (bounded && enabled(world.threads[ran]) ? ran + 1 : 0);
    if (!seen.add(hash, bounded ? preemptions : 0)) continue;
    const State next = state_here(ran, preemptions, bounded ? limits.preemptions - preemptions : -1);
    if (next.count > 0) {
      path.push_back(next);
      if (path.size() > limits.steps) problem = "a run goes on for ever";
    } else if (all_ended()) {
      ++result.ends;
    } else {
      problem = "a wake-up is lost";
    }
  }
  result.states = seen.count();
  result.ok = problem.empty();
  result.complete = result.ok && path.empty();
  if (!result.ok) {
    const std::string what = std::exchange(problem, {});
    result.problem = fmt::format("{} after {} steps:\n{}", what, path.size(), story(set_up, path));
  }
  ult::detach(explorer);
  return result;
}

void* memory(std::size_t bytes) {
  void* place = world.memory + world.used;
  world.used += (bytes + 63) / 64 * 64;
  if (world.used > kMemory) problem = "the scenario is larger than the explorer's memory";
  return world.used > kMemory ? nullptr : place;
}

void thread(const char* name, Body body, void* argument) {
  const std::uint32_t index = world.count++;
  Thread& thread = world.threads[index];
  thread.body = body;
  thread.argument = argument;
  thread.name = name;
  thread.fiber.stack = {stacks[index], kStackSize};
  ult::prepare(thread.fiber, thread_main);
}

void name(const void* address, const char* text) {
  names.emplace_back(address, text);
}

void set_network(bool readable) {
  world.network = readable;
}

void await(bool (*done)(void*), void* argument) {
  Thread& self = *running;
  self.kind = Kind::kAwait;
  self.object = nullptr;
  self.done = done;
  self.done_argument = argument;
  self.wait = Wait::kCondition;
  suspend();
}

void require(bool holds, const char* what) {
  if (!holds && problem.empty()) problem = what;
}

namespace detail {

void step(Kind kind, const void* object) noexcept {
  if (running == nullptr) return;
  running->kind = kind;
  running->object = object;
  suspend();
}

std::uint64_t read(const void* address, std::size_t size) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, address, size);
  if (running == nullptr) return value;
  for (std::uint32_t i = 0; i < running->held; ++i) {
    if (running->stores[i].address == address) value = running->stores[i].value;
  }
  return value;
}

void write(void* address, std::size_t size, std::uint64_t value, bool later) noexcept {
  if (running == nullptr) {
    std::memcpy(address, &value, size);
    return;
  }
  Thread& self = *running;
  if (later && self.held < kMostStores) {
    self.stores[self.held++] = {address, value, size};
    return;
  }
  make_visible(self, self.held);
  std::memcpy(address, &value, size);
}

// A system call begins when all stores are visible.
void futex_wait(const void* word, std::uint32_t value) noexcept {
  step(Kind::kFutexWait, word);
  Thread& self = *running;
  make_visible(self, self.held);
  std::uint32_t now;
  std::memcpy(&now, word, sizeof now);
  if (now != value) return;
  self.wait = Wait::kFutex;
  suspend();
}

void futex_wake(const void* word) noexcept {
  step(Kind::kFutexWake, word);
  if (running == nullptr) return;
  make_visible(*running, running->held);
  for (Thread& thread : world.threads) {
    if (thread.wait == Wait::kFutex && thread.object == word) thread.wait = Wait::kNothing;
  }
}

void signal_event() noexcept {
  step(Kind::kSignal, nullptr);
  if (running != nullptr) make_visible(*running, running->held);
  world.signalled = true;
}

void process_barrier() noexcept {
  step(Kind::kBarrier, nullptr);
  for (Thread& thread : world.threads) make_visible(thread, thread.held);
}

void wait_for_event(bool network) noexcept {
  step(Kind::kPoll, nullptr);
  make_visible(*running, running->held);
  if (!world.signalled && !(network && world.network)) {
    running->wait = network ? Wait::kPollNetwork : Wait::kPoll;
    suspend();
  }
  world.signalled = false;
}

}  // namespace detail
}  // namespace tmpi::sched::check
