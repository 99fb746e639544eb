#include "launch/spec/world_spec.hpp"

#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kCutShort =
    "a frame about a spawned world is cut short: tmpirun and tmpi-node differ in version";

void put(Packer& packer, const SpawnRequest& request) {
  packer.number(request.request);
  packer.number(static_cast<std::int64_t>(request.apps.size()));
  for (const WorldApp& app : request.apps) {
    packer.number(app.ranks);
    packer.text(app.command);
    packer.texts(app.arguments);
    packer.text(app.wdir);
    packer.text(app.path);
    packer.text(app.host);
  }
  packer.text(request.link);
}

SpawnRequest take_request(Unpacker& unpacker) {
  SpawnRequest request;
  request.request = unpacker.number();
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    WorldApp app;
    app.ranks = static_cast<int>(unpacker.number());
    app.command = unpacker.text();
    unpacker.texts(app.arguments);
    app.wdir = unpacker.text();
    app.path = unpacker.text();
    app.host = unpacker.text();
    request.apps.push_back(std::move(app));
  }
  request.link = unpacker.text();
  return request;
}

void put(Packer& packer, const WorldProblems& problems) {
  packer.number(static_cast<std::int64_t>(problems.size()));
  for (const auto& [app, why] : problems) {
    packer.number(app);
    packer.text(why);
  }
}

WorldProblems take_problems(Unpacker& unpacker) {
  WorldProblems problems;
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    const int app = static_cast<int>(unpacker.number());
    problems.emplace_back(app, unpacker.text());
  }
  return problems;
}

template <class T>
Result<T> whole(const Unpacker& unpacker, T value) {
  if (!unpacker.ok()) return Failure{kCutShort};
  return value;
}

}  // namespace

int WorldSpec::app_of(int rank) const {
  for (std::size_t index = 0; index < wanted.apps.size(); ++index) {
    if (rank < wanted.apps[index].ranks) return static_cast<int>(index);
    rank -= wanted.apps[index].ranks;
  }
  return -1;
}

std::string pack(const SpawnRequest& request) {
  Packer packer;
  put(packer, request);
  return packer.take();
}

std::string pack(const WorldSpec& spec) {
  Packer packer;
  packer.number(spec.number);
  packer.number(spec.first);
  packer.number(static_cast<std::int64_t>(spec.node_of.size()));
  for (const int node : spec.node_of) packer.number(node);
  packer.number(spec.root);
  put(packer, spec.wanted);
  return packer.take();
}

std::string pack(const WorldReady& ready) {
  Packer packer;
  packer.number(ready.number);
  put(packer, ready.problems);
  packer.number(ready.has_ranks ? 1 : 0);
  return packer.take();
}

std::string pack(const WorldStart& start) {
  Packer packer;
  packer.number(start.number);
  packer.number(start.first);
  packer.number(start.root);
  packer.number(start.request);
  put(packer, start.problems);
  return packer.take();
}

Result<SpawnRequest> unpack_spawn_request(std::string_view payload) {
  Unpacker unpacker(payload);
  SpawnRequest request = take_request(unpacker);
  return whole(unpacker, std::move(request));
}

Result<WorldSpec> unpack_world_spec(std::string_view payload) {
  Unpacker unpacker(payload);
  WorldSpec spec;
  spec.number = static_cast<int>(unpacker.number());
  spec.first = static_cast<int>(unpacker.number());
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left)
    spec.node_of.push_back(static_cast<int>(unpacker.number()));
  spec.root = static_cast<int>(unpacker.number());
  spec.wanted = take_request(unpacker);
  return whole(unpacker, std::move(spec));
}

Result<WorldReady> unpack_world_ready(std::string_view payload) {
  Unpacker unpacker(payload);
  WorldReady ready;
  ready.number = static_cast<int>(unpacker.number());
  ready.problems = take_problems(unpacker);
  ready.has_ranks = unpacker.number() != 0;
  return whole(unpacker, std::move(ready));
}

Result<WorldStart> unpack_world_start(std::string_view payload) {
  Unpacker unpacker(payload);
  WorldStart start;
  start.number = static_cast<int>(unpacker.number());
  start.first = static_cast<int>(unpacker.number());
  start.root = static_cast<int>(unpacker.number());
  start.request = unpacker.number();
  start.problems = take_problems(unpacker);
  return whole(unpacker, std::move(start));
}

}  // namespace tmpi::launch
