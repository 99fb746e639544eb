#include "launch/launcher/mpir.hpp"

#include <atomic>
#include <vector>

// Names, types and values are the interface's. Debuggers write MPIR_being_debugged, read the rest, and have a breakpoint on
// MPIR_Breakpoint.
extern "C" {

struct MPIR_PROCDESC {
  char* host_name;
  char* executable_name;
  int pid;
};

#define MPIR_NAME __attribute__((visibility("default"), used))
constexpr int kDebugSpawned = 1;   // MPIR_DEBUG_SPAWNED
constexpr int kDebugAborting = 2;  // MPIR_DEBUG_ABORTING

MPIR_NAME volatile int MPIR_being_debugged = 0;
MPIR_NAME volatile int MPIR_debug_state = 0;
MPIR_NAME char* MPIR_debug_abort_string = nullptr;
MPIR_NAME MPIR_PROCDESC* MPIR_proctable = nullptr;
MPIR_NAME int MPIR_proctable_size = 0;
// That they exist says something: this is a starter, not a rank; and ranks need not all be attached to, since none runs
// before tmpirun goes on.
MPIR_NAME int MPIR_i_am_starter = 0;
MPIR_NAME int MPIR_partial_attach_ok = 0;

MPIR_NAME __attribute__((noinline)) void MPIR_Breakpoint() {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a call that the compiler keeps
}

}  // extern "C"

namespace tmpi::launch::mpir {
namespace {

// What the table's pointers point at; for the life of tmpirun.
std::vector<MPIR_PROCDESC> table;
std::vector<std::string> hosts, programs;
std::string abort_reason;

void tell(int state) {
  MPIR_debug_state = state;
  if (being_debugged()) MPIR_Breakpoint();
}

}  // namespace

bool being_debugged() noexcept {
  return MPIR_being_debugged != 0;
}

void publish(const JobPlan& plan, const NodeSet& nodes, const JobSpec& job) {
  if (!table.empty()) return;
  for (const auto& node : nodes) hosts.push_back(node->hello->host);
  for (const AppSpec& app : job.apps) programs.push_back(app.program);
  for (int rank = 0; rank < plan.first_ranks; ++rank) {
    const auto node = static_cast<std::size_t>(nodes.node_of(rank));
    const auto app = static_cast<std::size_t>(job.app_of(rank));
    table.push_back({hosts[node].data(), programs[app].data(), nodes[static_cast<int>(node)].hello->pid});
  }
  MPIR_proctable = table.data();
  MPIR_proctable_size = static_cast<int>(table.size());
  tell(kDebugSpawned);
}

void aborting(const std::string& why) {
  if (!being_debugged()) return;
  abort_reason = why;
  MPIR_debug_abort_string = abort_reason.data();
  tell(kDebugAborting);
}

}  // namespace tmpi::launch::mpir
