// Where memory lies, by libnuma: policies, pages that move, nodes that have no memory or none for this process. Loaded
// when first asked for, which only machines of several NUMA nodes do; without it every hint is without effect.
#pragma once

#include <dlfcn.h>
#include <numa.h>
#include <numaif.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

namespace tmpi::numa {

struct Library {
  decltype(&numa_available) available = nullptr;
  decltype(&numa_max_node) max_node = nullptr;
  decltype(&numa_distance) distance = nullptr;
  decltype(&numa_node_size64) node_size = nullptr;
  decltype(&numa_get_mems_allowed) mems_allowed = nullptr;
  decltype(&numa_bitmask_isbitset) isbitset = nullptr;
  decltype(&numa_bitmask_setbit) setbit = nullptr;
  decltype(&numa_allocate_nodemask) allocate_nodemask = nullptr;
  decltype(&numa_bitmask_free) bitmask_free = nullptr;
  decltype(&numa_move_pages) move_pages = nullptr;
  decltype(&mbind) bind = nullptr;
  bool usable = false;
};

inline Library load() noexcept {
  Library library;
  void* const handle =
      dlopen("libnuma.so.1", RTLD_NOW | RTLD_LOCAL);  // stays: it is used until the process ends
  if (handle == nullptr) return library;
  bool complete = true;
  const auto take = [&](auto& function, const char* name) {
    void* const found = dlsym(handle, name);
    complete = complete && found != nullptr;
    std::memcpy(&function, &found, sizeof found);
  };
  take(library.available, "numa_available");
  take(library.max_node, "numa_max_node");
  take(library.distance, "numa_distance");
  take(library.node_size, "numa_node_size64");
  take(library.mems_allowed, "numa_get_mems_allowed");
  take(library.isbitset, "numa_bitmask_isbitset");
  take(library.setbit, "numa_bitmask_setbit");
  take(library.allocate_nodemask, "numa_allocate_nodemask");
  take(library.bitmask_free, "numa_bitmask_free");
  take(library.move_pages, "numa_move_pages");
  take(library.bind, "mbind");
  library.usable = complete && library.available() >= 0;
  return library;
}

inline const Library& library() noexcept {
  static const Library the_library = load();
  return the_library;
}

/// libnuma is there, and so are NUMA nodes. The first call loads it: some 100 us.
inline bool is_usable() noexcept {
  return library().usable;
}

/// The node whose memory is nearest to `node`: itself if it has memory that this process may use (its cpuset). -1:
/// unknown, or no such node. Reads /sys.
inline int nearest_with_memory(int node) noexcept {
  const Library& numa = library();
  if (!numa.usable || node < 0 || node > numa.max_node()) return -1;
  bitmask* const allowed = numa.mems_allowed();
  int nearest = -1, least = 0;
  for (int other = 0; other <= numa.max_node(); ++other) {
    const bool has_memory =
        numa.isbitset(allowed, static_cast<unsigned>(other)) != 0 && numa.node_size(other, nullptr) > 0;
    const int distance = other == node ? 1 : numa.distance(node, other);  // 0: unknown
    if (!has_memory || distance <= 0 || (nearest >= 0 && distance >= least)) continue;
    nearest = other;
    least = distance;
  }
  numa.bitmask_free(allowed);
  return nearest;
}

/// Pages of [memory, memory + bytes) that are touched from now on come from `node` if it has some. A hint.
inline void prefer(void* memory, std::size_t bytes, int node) noexcept {
  const Library& numa = library();
  if (!numa.usable || node < 0 || node > numa.max_node()) return;
  bitmask* const nodes = numa.allocate_nodemask();
  numa.setbit(nodes, static_cast<unsigned>(node));
  numa.bind(memory, bytes, MPOL_PREFERRED, nodes->maskp, nodes->size + 1, 0);
  numa.bitmask_free(nodes);
}

/// Moves each of these pages of the process to its node of `nodes`, as far as it exists, belongs to this process alone and
/// there is room; status: where each is then, or a negative errno. False: the system does not do that at all.
inline bool move_pages(std::span<void*> pages, std::span<const int> nodes, std::span<int> status) noexcept {
  const Library& numa = library();
  if (!numa.usable) return false;
  for (std::size_t begin = 0; begin < pages.size();) {
    const int left = numa.move_pages(0, pages.size() - begin, pages.data() + begin, nodes.data() + begin,
                                     status.data() + begin, MPOL_MF_MOVE);
    // ENOENT: none of them exists.
    if (left < 0) return errno == ENOENT || errno == EBUSY || errno == ENOMEM;
    if (left == 0) break;
    // So many have not been moved: one or more that somebody was just using, and all behind it, which were not tried.
    begin = pages.size() - static_cast<std::size_t>(left) + 1;
  }
  return true;
}

}  // namespace tmpi::numa
