#include "launch/spec/world_spec.hpp"

#include "launch/wire/fields.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kCutShort =
    "a frame about a spawned world is cut short: tmpirun and tmpi-node differ in version";

}  // namespace

int WorldSpec::app_of(int rank) const {
  for (std::size_t index = 0; index < wanted.apps.size(); ++index) {
    if (rank < wanted.apps[index].ranks) return static_cast<int>(index);
    rank -= wanted.apps[index].ranks;
  }
  return -1;
}

void fields(auto& archive, Of<WorldApp> auto& app) {
  archive(app.ranks, app.command, app.arguments, app.wdir, app.path, app.host);
}

void fields(auto& archive, Of<SpawnRequest> auto& request) {
  archive(request.request, request.apps, request.link);
}

void fields(auto& archive, Of<WorldSpec> auto& spec) {
  archive(spec.number, spec.first, spec.node_of, spec.root, spec.wanted);
}

void fields(auto& archive, Of<WorldReady> auto& ready) {
  archive(ready.number, ready.problems, ready.has_ranks);
}

void fields(auto& archive, Of<WorldStart> auto& start) {
  archive(start.number, start.first, start.root, start.request, start.problems);
}

std::string pack(const SpawnRequest& request) {
  return packed(request);
}

std::string pack(const WorldSpec& spec) {
  return packed(spec);
}

std::string pack(const WorldReady& ready) {
  return packed(ready);
}

std::string pack(const WorldStart& start) {
  return packed(start);
}

Result<SpawnRequest> unpack_spawn_request(std::string_view payload) {
  return unpacked<SpawnRequest>(payload, kCutShort);
}

Result<WorldSpec> unpack_world_spec(std::string_view payload) {
  return unpacked<WorldSpec>(payload, kCutShort);
}

Result<WorldReady> unpack_world_ready(std::string_view payload) {
  return unpacked<WorldReady>(payload, kCutShort);
}

Result<WorldStart> unpack_world_start(std::string_view payload) {
  return unpacked<WorldStart>(payload, kCutShort);
}

}  // namespace tmpi::launch
