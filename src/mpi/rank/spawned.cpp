#include "mpi/rank/spawned.hpp"

#include <cstring>
#include <vector>

namespace tmpi::mpi {

std::string pack_link(const World& world) {
  std::string bytes;
  const auto put = [&](std::uint64_t value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(world.context);
  put(world.link.context);
  put(world.link.locals[0]);
  put(world.link.locals[1]);
  const Group& parents = *world.link.parents;
  put(static_cast<std::uint64_t>(parents.size()));
  for (int i = 0; i < parents.size(); ++i) put(static_cast<std::uint64_t>(parents.world_rank(i)));
  return bytes;
}

bool unpack_link(std::string_view bytes, World& world) {
  std::size_t at = 0;
  bool whole = true;
  const auto take = [&]() -> std::uint64_t {
    std::uint64_t value = 0;
    whole = whole && bytes.size() - at >= sizeof value;
    if (!whole) return 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  world.context = take();
  world.link.context = take();
  world.link.locals[0] = take();
  world.link.locals[1] = take();
  const std::uint64_t count = take();
  if (!whole || (bytes.size() - at) / sizeof count != count) return false;
  std::vector<int> parents;
  for (std::uint64_t i = 0; i < count; ++i) parents.push_back(static_cast<int>(take()));
  world.link.parents = Group::list(std::move(parents));
  return whole;
}

}  // namespace tmpi::mpi
