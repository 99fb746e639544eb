#include "replay/explored_events.hpp"

#include <cstring>

namespace tmpi::replay {

std::string_view bytes_of(const ExploredEvent& event) noexcept {
  return {reinterpret_cast<const char*>(&event), sizeof event};
}

std::vector<ExploredEvent> read_explored_events(std::string_view bytes) {
  std::vector<ExploredEvent> events;
  for (ExploredEvent event; bytes.size() >= sizeof event; bytes.remove_prefix(sizeof event)) {
    std::memcpy(&event, bytes.data(), sizeof event);
    if (event.kind == ExploredKind::kNothing) break;
    events.push_back(event);
  }
  return events;
}

}  // namespace tmpi::replay
