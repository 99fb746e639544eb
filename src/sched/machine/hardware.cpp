#include "sched/machine/hardware.hpp"

#include <hwloc.h>

#include <mutex>

#include "sched/move.hpp"

namespace tmpi::sched {
namespace {

// From coarse to fine. Where two kinds hold the same CPUs the order does not matter.
constexpr hwloc_obj_type_t kTypes[] = {HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE,
                                       HWLOC_OBJ_DIE,     HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
                                       HWLOC_OBJ_L1CACHE, HWLOC_OBJ_CORE,    HWLOC_OBJ_PU};

// Kept until the process ends. Null if hwloc cannot read the machine.
hwloc_topology_t machine() {
  static std::once_flag once;
  static hwloc_topology_t topology = nullptr;
  std::call_once(once, [] {
    hwloc_topology_t fresh;
    if (hwloc_topology_init(&fresh) != 0) return;
    // The x86 back end would visit every CPU to run CPUID there; Linux' sysfs says the same.
    hwloc_topology_set_components(fresh, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (hwloc_topology_load(fresh) == 0) {
      topology = fresh;
    } else {
      hwloc_topology_destroy(fresh);
    }
  });
  return topology;
}

int instance_around(hwloc_topology_t topology, hwloc_obj_type_t type, int count, hwloc_const_cpuset_t cpus) {
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
    if (hwloc_bitmap_isincluded(cpus, object->cpuset)) return i;
  }
  return -1;
}

}  // namespace

std::vector<Resource> resources_of_calling_thread() {
  std::vector<Resource> resources;
  const hwloc_topology_t topology = machine();
  if (topology == nullptr) return resources;
  const hwloc_cpuset_t cpus = hwloc_bitmap_alloc();
  // A task that moves is confined to what all workers have.
  if (hwloc_get_cpubind(topology, cpus, tasks_move() ? HWLOC_CPUBIND_PROCESS : HWLOC_CPUBIND_THREAD) != 0)
    hwloc_bitmap_copy(cpus, hwloc_topology_get_allowed_cpuset(topology));
  for (const hwloc_obj_type_t type : kTypes) {
    const int count = hwloc_get_nbobjs_by_type(topology, type);
    if (count > 0)
      resources.push_back({hwloc_obj_type_string(type), instance_around(topology, type, count, cpus)});
  }
  hwloc_bitmap_free(cpus);
  return resources;
}

}  // namespace tmpi::sched
