#include "mpi/tool/event_types.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tmpi::mpi::tool {
namespace {

const EventElement kMessageElements[] = {
    {"context", MPI_UINT64_T, offsetof(MessageEvent, context), sizeof(MessageEvent::context)},
    {"bytes", MPI_COUNT, offsetof(MessageEvent, bytes), sizeof(MessageEvent::bytes)},
    {"peer", MPI_INT, offsetof(MessageEvent, peer), sizeof(MessageEvent::peer)},
    {"tag", MPI_INT, offsetof(MessageEvent, tag), sizeof(MessageEvent::tag)},
};
const EventElement kResumedElements[] = {
    {"waited", MPI_DOUBLE, offsetof(ResumedEvent, waited), sizeof(ResumedEvent::waited)},
    {"idled", MPI_DOUBLE, offsetof(ResumedEvent, idled), sizeof(ResumedEvent::idled)},
};
const EventElement kAlgorithmElements[] = {
    {"bytes", MPI_COUNT, offsetof(AlgorithmEvent, bytes), sizeof(AlgorithmEvent::bytes)},
    {"collective", MPI_INT, offsetof(AlgorithmEvent, collective), sizeof(AlgorithmEvent::collective)},
    {"algorithm", MPI_INT, offsetof(AlgorithmEvent, algorithm), sizeof(AlgorithmEvent::algorithm)},
    {"ranks", MPI_INT, offsetof(AlgorithmEvent, ranks), sizeof(AlgorithmEvent::ranks)},
};

// In the order of enum EventKind.
const EventType kTypes[kEventKinds] = {
    {"tmpi_message_sent", MPI_T_VERBOSITY_USER_BASIC, Category::kMessages, 0, sizeof(MessageEvent),
     kMessageElements,
     "The rank sends a message: the communicator's number, bytes, destination (rank in MPI_COMM_WORLD), "
     "tag."},
    {"tmpi_message_received", MPI_T_VERBOSITY_USER_BASIC, Category::kMessages, 0, sizeof(MessageEvent),
     kMessageElements,
     "A message to the rank has been matched with a receive: the communicator's number, bytes, source (rank "
     "in the "
     "communicator), tag."},
    {"tmpi_rank_resumed", MPI_T_VERBOSITY_USER_DETAIL, Category::kTime, 0, sizeof(ResumedEvent),
     kResumedElements,
     "The rank goes on after it was suspended: for how long, and for how long of that its core was idle, in "
     "seconds."},
    {"tmpi_algorithm_chosen", MPI_T_VERBOSITY_TUNER_BASIC, Category::kAlgorithms, 0, sizeof(AlgorithmEvent),
     kAlgorithmElements,
     "An algorithm has been chosen for a collective of a kind and size that the communicator has not had "
     "just before: "
     "bytes, index of the collective's control variable among those of its category, value of that variable, "
     "ranks."},
};

constexpr EventSource kSources[] = {
    {"tmpi_rank", "The calling rank and those who bring it messages."},
};

}  // namespace

const Enumeration& EventType::enumeration() const {
  static const std::array<const Enumeration*, kEventKinds> all = [] {
    std::array<const Enumeration*, kEventKinds> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
      std::vector<std::pair<int, std::string>> items;
      for (const EventElement& element : kTypes[i].elements)
        items.emplace_back(static_cast<int>(items.size()), element.name);
      made[i] = &add_enumeration(std::string(kTypes[i].name) + "_elements", std::move(items));
    }
    return made;
  }();
  return *all[static_cast<std::size_t>(this - kTypes)];
}

std::span<const EventType> event_types() noexcept {
  return kTypes;
}

int find_event_type(std::string_view name) noexcept {
  const auto* const found =
      std::ranges::find_if(kTypes, [&](const EventType& each) { return each.name == name; });
  return found == std::end(kTypes) ? -1 : static_cast<int>(found - kTypes);
}

std::span<const EventSource> event_sources() noexcept {
  return kSources;
}

}  // namespace tmpi::mpi::tool
