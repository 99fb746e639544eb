#include "observe/trace.hpp"

#include <fmt/format.h>
#include <string.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace tmpi::observe {
namespace {

using nlohmann::json;

/// The last bytes of a part.
struct Footer {
  std::uint64_t description;  // its size
  std::uint64_t magic = 0x316563617274706d;
};

json document_of(const TraceTrack& track, std::uint64_t count) {
  json forgotten = json::array();
  for (const MessageTally::Count& each : track.forgotten)
    forgotten.push_back(
        {each.key.context, each.key.from, each.key.to, each.key.tag, each.sent, each.received});
  return {{"name", track.name},
          {"count", count},
          {"dropped", track.dropped},
          {"needed", track.bytes_needed},
          {"since", track.complete_since},
          {"exact", track.exact},
          {"forgotten", std::move(forgotten)}};
}

/// Takes its events from the beginning of `events`.
TraceTrack track_in(const json& document, std::span<const Event>& events) {
  TraceTrack track;
  track.name = document.at("name");
  const std::size_t count = document.at("count");
  if (count > events.size()) throw json::other_error::create(500, "events are missing", &document);
  track.events = events.first(count);
  events = events.subspan(count);
  track.dropped = document.at("dropped");
  track.bytes_needed = document.at("needed");
  track.complete_since = document.at("since");
  track.exact = document.at("exact");
  for (const json& each : document.at("forgotten"))
    track.forgotten.push_back({{each.at(0), each.at(1), each.at(2), each.at(3)}, each.at(4), each.at(5)});
  return track;
}

}  // namespace

std::string pack_trace_end(const TracePart& part, std::span<const std::uint64_t> counts) {
  json document = {{"node", part.node},       {"program", part.program},     {"host", part.host},
                   {"machine", part.machine}, {"early", part.ended_early},   {"origin", part.origin},
                   {"wall", part.wall},       {"length", part.length},       {"foreign", part.foreign_calls},
                   {"ranks", part.ranks},     {"functions", part.functions}, {"sites", part.sites},
                   {"workers", json::array()}};
  for (std::size_t i = 0; i < part.workers.size(); ++i)
    document["workers"].push_back(document_of(part.workers[i], counts[i]));
  document["others"] = document_of(part.others, counts.back());
  std::string bytes;
  json::to_cbor(document, bytes);
  const Footer footer{bytes.size()};
  return bytes.append(reinterpret_cast<const char*>(&footer), sizeof footer);
}

Result<TracePart> unpack_trace(std::string_view bytes) {
  Footer footer{};
  if (bytes.size() < sizeof footer) return Failure{"it is empty"};
  memcpy(&footer, bytes.data() + bytes.size() - sizeof footer, sizeof footer);
  bytes.remove_suffix(sizeof footer);
  if (footer.magic != Footer{}.magic || footer.description > bytes.size())
    return Failure{"its end is missing"};
  const std::size_t end = bytes.size() - footer.description;
  std::span<const Event> events(reinterpret_cast<const Event*>(bytes.data()), end / sizeof(Event));
  try {
    const json document = json::from_cbor(bytes.substr(end));
    TracePart part;
    part.node = document.at("node");
    part.program = document.at("program");
    part.host = document.at("host");
    part.machine = document.at("machine");
    part.ended_early = document.at("early");
    part.origin = document.at("origin");
    part.wall = document.at("wall");
    part.length = document.at("length");
    part.foreign_calls = document.at("foreign");
    part.ranks = document.at("ranks").get<std::vector<int>>();
    part.functions = document.at("functions").get<std::vector<std::string>>();
    part.sites = document.at("sites").get<std::vector<std::string>>();
    for (const json& track : document.at("workers")) part.workers.push_back(track_in(track, events));
    part.others = track_in(document.at("others"), events);
    if (!events.empty()) return Failure{"it has more events than tracks"};
    return part;
  } catch (const json::exception& error) {
    return Failure{fmt::format("it is no trace: {}", error.what())};
  }
}

}  // namespace tmpi::observe
