// Events: what a rank's tools have asked to be told of (MPI report, 15.3.8). An event is noted where it happens, on
// whatever thread, without allocating, and delivered on the rank's own flow of control: callbacks are the program's code,
// which must find its own globals and thread-locals. Until then it waits in the registration's ring; what finds no room
// there is dropped, and counted. docs/reference/tools-interface.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/coll/algorithm.hpp"
#include "mpi/match/message.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/tool/event_types.hpp"

namespace tmpi::mpi::tool {

/// What a callback may do where it is called: a level that MPI defines, as an index. kAnything: whatever the program may;
/// kRestricted: nothing that communicates or waits, since its rank is in the middle of that.
enum class Safety : unsigned char { kAnything, kRestricted, kThreadSafe, kSignalSafe };
inline constexpr int kSafeties = 4;
MPI_T_cb_safety level_of(Safety safety) noexcept;
/// -1: no level of MPI.
int safety_from(MPI_T_cb_safety level) noexcept;

/// An event that has happened: what MPI_T_event_instance points to, while a callback is called with it.
struct EventRecord {
  std::uint64_t ticks = 0;
  std::uint64_t number = 0;  ///< of the rank's events, in the order in which they happened
  EventKind kind = EventKind::kMessageSent;
  std::array<std::byte, 32> data{};
};

struct Registration {
  struct Callback {
    MPI_T_event_cb_function* function = nullptr;
    void* user_data = nullptr;
  };

  EventKind kind = EventKind::kMessageSent;
  std::array<Callback, kSafeties> callbacks;  ///< by Safety
  MPI_T_event_dropped_cb_function* on_dropped = nullptr;
  bool freed = false;

  // Under the lock of its Events.
  std::unique_ptr<EventRecord[]> ring;
  std::size_t first = 0, waiting = 0;
  MPI_Count dropped = 0;
};

class Events {
 public:
  /// Events of a registration that may wait.
  static constexpr std::size_t kCapacity = 1024;

  explicit Events(Rank& rank) noexcept : rank_(rank) {}
  ~Events();
  Events(const Events&) = delete;

  // The rank's flows of control; may allocate. None suspends by itself, but callbacks may.
  Registration& allocate(EventKind kind);
  /// Null for what is no registration of this rank. Any thread of the rank.
  Registration* find(const void* handle) const noexcept;
  /// What waits is delivered as far as callbacks are for that; then `freed` is called, if not null.
  void free(Registration& registration, MPI_T_event_free_cb_function* freed, void* user_data);
  /// All of them, without a word.
  void free_all();
  void set_callback(Registration& registration, Safety safety, Registration::Callback callback);
  /// Null unless a callback is being called with it.
  const EventRecord* current(MPI_T_event_instance instance) const noexcept;
  /// Calls callbacks with what has happened, in that order, where `safety` is all that a callback must have. Nothing if
  /// one is being called.
  void deliver(Safety safety) noexcept;

  // Whoever brings it about; do not allocate.
  void on_resumed(Rank& rank, std::uint64_t waited, std::uint64_t idled) noexcept;
  /// True if somebody wants to know.
  template <class Data>
  bool note(EventKind kind, const Data& data) noexcept {
    static_assert(sizeof(Data) <= sizeof(EventRecord::data));
    return note(kind, reinterpret_cast<const std::byte*>(&data), sizeof data);
  }

 private:
  bool note(EventKind kind, const std::byte* data, std::size_t size) noexcept;
  bool deliver_next(Safety safety) noexcept;
  void tell_dropped(Safety safety) noexcept;
  void sweep() noexcept;
  void demand(EventKind kind, int change);

  Rank& rank_;
  mutable SpinLock lock_;
  std::vector<std::unique_ptr<Registration>> registrations_;  // changed by the rank's flows, under the lock
  std::uint64_t number_ = 0;
  std::array<std::atomic<int>, kEventKinds> wanted_{};  // registrations with callbacks; relaxed
  bool delivering_ = false;                             // under the lock
  const EventRecord* current_ = nullptr;
};

/// The rank's, made on first use. May allocate.
Events& events_of(Rank& rank);
/// On the rank's own flow of control, which has been interrupted for this (sched::interrupt). Callbacks may do what
/// Safety::kRestricted allows.
void deliver_events(Rank& rank) noexcept;

}  // namespace tmpi::mpi::tool
