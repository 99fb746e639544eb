// Explorer: runs a few threads in every order in which they can take their steps, and finds the order in
// which one of them sleeps for ever. For tests of code that is written for any System (system.hpp): with
// Checked in System's place the very code that runs in a job is explored, not a model of it.
//
// A thread is a fiber; its steps are its accesses to atomics and its system calls, and before each of them
// any other thread may go first. A store that is not seq_cst may become visible later, as on x86-64 (each
// thread has a store buffer, emptied in order; so has a thread that has ended). What the threads share and
// their stacks lie at fixed addresses, so that a state is a stretch of memory: it is hashed, to be explored
// once whatever has led to it, and copied, to go back to it. Not a part of the library; not under sanitizers,
// which cannot know that stacks are copied.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "sched/door/system.hpp"

namespace tmpi::sched::check {

struct Result {
  bool ok = false;
  bool complete = false;  ///< every order has been tried, within the limits
  std::uint64_t states = 0;
  std::uint64_t steps = 0;
  std::uint64_t ends = 0;  ///< states in which all threads have ended
  std::string problem;     ///< what is wrong, and the steps that lead there
};

/// A thread of a scenario: runs body(argument).
using Body = void (*)(void* argument);

// ---- For scenarios: set-up ----

struct Limits {
  /// How often a thread that could go on is made to wait for others. Few preemptions find nearly all errors
  /// (Musuvathi and Qadeer, 2007), in far fewer orders; negative: any number, every order.
  int preemptions = -1;
  std::uint64_t states = 20'000'000;
  /// Steps of one run: one that is longer is taken to go on for ever.
  std::size_t steps = 5'000;
};

/// Tries every order within the limits. `set_up` makes the scenario, in memory() and by thread(); all of it
/// has to be the same at every call. Stops at the first problem.
Result explore(void (*set_up)(), const Limits& limits = {});

/// Where the scenario's shared state has to lie: cleared, aligned to 64 bytes.
void* memory(std::size_t bytes);
void thread(const char* name, Body body, void* argument);
/// Names an object in the lists of steps that problems come with.
void name(const void* address, const char* text);
/// The network has something from the beginning on, or later: whoever waits for events of it wakes.
void set_network(bool readable);

// ---- For scenarios: in threads ----

/// Waits until `done(argument)`, in user code.
void await(bool (*done)(void* argument), void* argument);
/// Claims that what never holds does not hold.
void require(bool holds, const char* what);

// ---- For Checked ----

namespace detail {

enum class Kind : std::uint8_t {
  kLoad,
  kStore,
  kChange,
  kFutexWait,
  kFutexWake,
  kSignal,
  kPoll,
  kAwait,
  kBarrier,
  kYield
};

/// Before each step of a thread: others may go first. Outside of threads (set-up): nothing.
void step(Kind kind, const void* object) noexcept;
/// The value that the calling thread sees at `address`: that of its own store if that is not visible yet.
std::uint64_t read(const void* address, std::size_t size) noexcept;
/// A store: visible now, and all before it, or (`later`) at some time.
void write(void* address, std::size_t size, std::uint64_t value, bool later) noexcept;
void futex_wait(const void* word, std::uint32_t value) noexcept;
void futex_wake(const void* word) noexcept;
void signal_event() noexcept;
void process_barrier() noexcept;
void wait_for_event(bool network) noexcept;

}  // namespace detail

/// std::atomic as a checked thread has it.
template <class T>
class Atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

 public:
  Atomic(T value = T()) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order) const noexcept {
    detail::step(detail::Kind::kLoad, this);
    return get();
  }
  void store(T value, std::memory_order order) noexcept {
    detail::step(detail::Kind::kStore, this);
    put(value, order != std::memory_order_seq_cst);
  }
  T exchange(T value, std::memory_order) noexcept {
    return change([&](T) { return value; });
  }
  T fetch_add(T value, std::memory_order) noexcept {
    return change([&](T old) { return static_cast<T>(old + value); });
  }
  T fetch_or(T value, std::memory_order) noexcept {
    return change([&](T old) { return static_cast<T>(old | value); });
  }
  T fetch_sub(T value, std::memory_order) noexcept {
    return change([&](T old) { return static_cast<T>(old - value); });
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order,
                               std::memory_order = std::memory_order_relaxed) noexcept {
    detail::step(detail::Kind::kChange, this);
    const T old = get();
    put(old == expected ? value : old, false);  // locked, hence after all stores before it, also if it fails
    if (old == expected) return true;
    expected = old;
    return false;
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                             std::memory_order failure) noexcept {
    return compare_exchange_strong(expected, value, success, failure);
  }

 private:
  template <class Change>
  T change(Change&& change) noexcept {
    detail::step(detail::Kind::kChange, this);
    const T old = get();
    put(change(old), false);
    return old;
  }
  T get() const noexcept {
    const std::uint64_t bits = detail::read(&value_, sizeof(T));
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  void put(T value, bool later) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    detail::write(&value_, sizeof(T), bits, later);
  }

  T value_;
};

/// The system of checked threads. The steps in `kOmitted`, a set of bits, are left out.
template <std::uint32_t kOmitted = 0>
struct Checked {
  template <class T>
  using Atomic = check::Atomic<T>;

  static constexpr int kLockSpins = 0;
  static constexpr int kPauseSpins = 0;

  static constexpr bool omits(Step step) noexcept { return ((kOmitted >> static_cast<int>(step)) & 1) != 0; }

  static void wait_on(const Atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t = 0) noexcept {
    detail::futex_wait(&word, value);
  }
  static void wake_one(const Atomic<std::uint32_t>& word) noexcept { detail::futex_wake(&word); }
  static void wake_all(const Atomic<std::uint32_t>& word) noexcept { detail::futex_wake(&word); }
  static int open_event() noexcept { return 0; }
  static void close_event(int) noexcept {}
  static void signal(int) noexcept { detail::signal_event(); }
  static void wait_for(int, int, const Arming& arming, std::uint64_t) noexcept {
    detail::wait_for_event(arming.fd >= 0);
  }
  static void take_signals(int) noexcept {}
  static bool process_barrier() noexcept {
    detail::process_barrier();
    return true;
  }
  static void relax() noexcept {}
  static void yield() noexcept { detail::step(detail::Kind::kYield, nullptr); }
};

}  // namespace tmpi::sched::check
