#include "replay/trace.hpp"

#include <cstring>

namespace tmpi::replay {

std::string_view bytes_of(const TraceEvent& event) noexcept {
  return {reinterpret_cast<const char*>(&event), sizeof event};
}

std::vector<TraceEvent> read_trace(std::string_view bytes) {
  std::vector<TraceEvent> events;
  for (TraceEvent event; bytes.size() >= sizeof event; bytes.remove_prefix(sizeof event)) {
    std::memcpy(&event, bytes.data(), sizeof event);
    if (event.kind == TraceKind::kNothing) break;
    events.push_back(event);
  }
  return events;
}

}  // namespace tmpi::replay
