// Hardware: which parts of the machine the calling thread is confined to, by its affinity mask (hwloc); in a job whose
// tasks move between workers, the process. The machine is read at the first question, once per process (milliseconds). Any thread. Does not suspend.
#pragma once

#include <string>
#include <vector>

namespace tmpi::sched {

/// One kind of resource: "Package", "NUMANode", "L3Cache", "Core" ... as hwloc names it.
struct Resource {
  std::string type;
  int instance =
      -1;  ///< hwloc's logical number of the one that holds all CPUs of the calling thread; -1: none
};

/// Every kind that this machine has, from the whole machine to a hardware thread. Empty if it cannot be read.
std::vector<Resource> resources_of_calling_thread();

}  // namespace tmpi::sched
