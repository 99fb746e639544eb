// Event types: the table of what tools can be told of as it happens, and the sources that events come from (MPI report,
// 15.3.8). The same for all ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mpi.h"
#include "mpi/tool/categories.hpp"
#include "mpi/tool/enumeration.hpp"

namespace tmpi::mpi::tool {

enum class EventKind : unsigned char { kMessageSent, kMessageReceived, kResumed, kAlgorithm };
inline constexpr int kEventKinds = 4;

// What events carry, as MPI_T_event_copy gives it.
struct MessageEvent {
  std::uint64_t context;
  MPI_Count bytes;
  int peer;
  int tag;
};
struct ResumedEvent {
  double waited;
  double idled;
};
struct AlgorithmEvent {
  MPI_Count bytes;
  int collective;
  int algorithm;
  int ranks;
};

struct EventElement {
  const char* name;
  MPI_Datatype type;
  int displacement;
  int size;
};

struct EventType {
  const char* name;
  int verbosity;
  Category category;
  int source;  ///< index in event_sources()
  int size;    ///< bytes of its data
  std::span<const EventElement> elements;
  const char* description;

  /// Names of the elements, by index.
  const Enumeration& enumeration() const;
};
/// In the order of EventKind.
std::span<const EventType> event_types() noexcept;
int find_event_type(std::string_view name) noexcept;  ///< -1: there is none

struct EventSource {
  const char* name;
  const char* description;
};
/// All are ordered, and count ticks of one clock (timers/clock.hpp).
std::span<const EventSource> event_sources() noexcept;

}  // namespace tmpi::mpi::tool
