#include "sched/machine/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "sched/machine/cpu_quota.hpp"

namespace tmpi::sched {
namespace {

/// The calling thread's mask, of whatever length the kernel wants.
std::vector<cpu_set_t> affinity_mask() {
  std::vector<cpu_set_t> mask(1);
  while (sched_getaffinity(0, mask.size() * sizeof(cpu_set_t), mask.data()) != 0) {
    if (errno != EINVAL || mask.size() >= 64) {
      mask.clear();
      break;
    }
    mask.resize(2 * mask.size());
  }
  return mask;
}

bool contains(const std::vector<cpu_set_t>& mask, int cpu) {
  return CPU_ISSET_S(static_cast<std::size_t>(cpu), mask.size() * sizeof(cpu_set_t), mask.data());
}

int numa_node_of(hwloc_obj_t object) {
  const int node = object->nodeset == nullptr ? -1 : hwloc_bitmap_first(object->nodeset);
  return std::max(node, 0);
}

/// hwloc's topology. It reads nothing which is not asked for (caches, devices, PCI), and that once per
/// process: it takes a millisecond or two.
class Machine {
 public:
  static const Machine& of_this_process() {
    static const Machine& machine = *new Machine;  // never destroyed
    return machine;
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  explicit operator bool() const { return loaded_; }
  hwloc_topology_t get() const { return topology_; }

 private:
  Machine() {
    loaded_ = hwloc_topology_init(&topology_) == 0;
    if (!loaded_) return;
    hwloc_topology_set_all_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_CORE, HWLOC_OBJ_PACKAGE})
      hwloc_topology_set_type_filter(topology_, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    // The x86 back end would visit every CPU to run CPUID there; Linux' sysfs says the same.
    hwloc_topology_set_components(topology_, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    loaded_ = hwloc_topology_load(topology_) == 0;
    if (!loaded_) hwloc_topology_destroy(topology_);
  }

  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

}  // namespace

Result<Topology> Topology::discover() {
  const std::vector<cpu_set_t> mask = affinity_mask();
  const Machine& machine = Machine::of_this_process();
  if (!machine || mask.empty()) {
    return Failure{
        fmt::format("cannot find out which cores there are (hwloc: {}). Pass --bind-to none to do without.",
                    std::strerror(errno))};
  }
  struct Candidate {
    int sibling;  // 0 for the first allowed hardware thread of its core
    Place place;
  };
  std::vector<Candidate> candidates;
  Topology topology;
  const int cores = hwloc_get_nbobjs_by_type(machine.get(), HWLOC_OBJ_CORE);
  int core_of_socket = -1;
  int last_socket = 0;
  for (int c = 0; c < cores; ++c) {
    hwloc_obj_t core = hwloc_get_obj_by_type(machine.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(c));
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(machine.get(), HWLOC_OBJ_PACKAGE, core);
    const int socket = package == nullptr ? 0 : static_cast<int>(package->logical_index);
    core_of_socket = socket == last_socket ? core_of_socket + 1 : 0;
    last_socket = socket;
    int sibling = 0;
    for (int pu = hwloc_bitmap_first(core->cpuset); pu >= 0; pu = hwloc_bitmap_next(core->cpuset, pu)) {
      if (contains(mask, pu))
        candidates.push_back(
            {sibling++,
             {static_cast<int>(core->logical_index), pu, numa_node_of(core), socket, core_of_socket}});
    }
    topology.cores += sibling > 0;
  }
  if (candidates.empty()) {
    return Failure{
        "this process may not use any core that hwloc knows. Check its affinity mask (taskset -p), or pass "
        "--bind-to none."};
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.sibling < b.sibling; });
  for (const Candidate& candidate : candidates) topology.places.push_back(candidate.place);
  return topology;
}

bool Topology::several_numa_nodes() const {
  return std::ranges::any_of(places,
                             [&](const Place& place) { return place.numa_node != places[0].numa_node; });
}

std::span<const Place> Topology::places_of(int worker, int cores_of_each) const {
  const auto number = static_cast<std::size_t>(worker);
  if (cores_of_each <= 1) return {&places[number % places.size()], 1};
  // Whole cores: the second hardware threads stay free.
  const auto all = static_cast<std::size_t>(cores);
  const std::size_t each = std::min(static_cast<std::size_t>(cores_of_each), all);
  return std::span(places).subspan(number % (all / each) * each, each);
}

std::vector<Place> Topology::set_aside(int count, int numa_node, int for_workers) {
  if (cores - count < for_workers) return {};
  std::vector<Place> firsts(places.begin(), places.begin() + cores);
  // Taken from the back, where those near the device are moved to.
  std::stable_partition(firsts.begin(), firsts.end(),
                        [&](const Place& place) { return place.numa_node != numa_node; });
  std::vector<Place> taken(firsts.end() - count, firsts.end());
  std::erase_if(places, [&](const Place& place) {
    return std::ranges::any_of(taken, [&](const Place& one) { return one.core == place.core; });
  });
  cores -= count;
  return taken;
}

double cpu_limit() {
  const std::vector<cpu_set_t> mask = affinity_mask();
  const int cpus = mask.empty() ? 1 : CPU_COUNT_S(mask.size() * sizeof(cpu_set_t), mask.data());
  return std::min<double>(cpus, cgroup_cpu_quota());
}

int available_cores() {
  const auto topology = Topology::discover();
  const int by_limit = std::max(1, static_cast<int>(std::ceil(cpu_limit())));
  return topology ? std::min(topology->cores, by_limit) : by_limit;
}

bool pin_to(std::span<const Place> places) noexcept {
  const auto most = static_cast<std::size_t>(std::ranges::max(places, {}, &Place::pu).pu);
  cpu_set_t* mask = CPU_ALLOC(most + 1);
  if (mask == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(most + 1);
  CPU_ZERO_S(bytes, mask);
  for (const Place& place : places) CPU_SET_S(static_cast<std::size_t>(place.pu), bytes, mask);
  const bool pinned = sched_setaffinity(0, bytes, mask) == 0;
  CPU_FREE(mask);
  return pinned;
}

Affinity::Affinity() : mask_(affinity_mask()) {}

void Affinity::apply() const noexcept {
  if (!mask_.empty()) sched_setaffinity(0, mask_.size() * sizeof(cpu_set_t), mask_.data());
}

std::string describe(std::span<const Place> places) {
  const auto list = [&](int Place::*number) {
    std::string text;
    for (const Place& place : places) text += fmt::format("{}{}", text.empty() ? "" : ", ", place.*number);
    return text;
  };
  const char* const several = places.size() > 1 ? "s" : "";
  return fmt::format("core{} {} (PU{} {}), NUMA node {}", several, list(&Place::core), several,
                     list(&Place::pu), places.front().numa_node);
}

}  // namespace tmpi::sched
