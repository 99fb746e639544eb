// Ranks that can be saved and revived (--migratable, --restart): what this node process does for its ranks beside the loader,
// which gives them their addresses, and MPI, which stops them at one moment. docs/design/checkpoint.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/spec/node_spec.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/rank.hpp"
#include "privatize/loader.hpp"

namespace tmpi::launch {

/// This process does not have the addresses that others of the job have, since the system chooses them anew for each:
/// it has to start itself again (start_again.hpp).
bool has_other_addresses(const JobSpec& job) noexcept;
/// The next program that this process executes has. False: the system refuses.
bool choose_addresses() noexcept;

/// Values by which code finds out that a stack has been written over, and by which libc hides addresses that it keeps, are
/// random in each process; ranks that come from another one bring theirs along. Before the process has a second thread, by
/// a function that does not return.
void take_guards(const JobSpec& job) noexcept;

/// Gives the ranks here their addresses, and node process `node` its part of the hosts' memory for their checkpoints. Before
/// any program is loaded.
Result<void> prepare_slots(const JobSpec& job, int node, std::size_t stack_size, mpi::Job& ranks);
/// Where the stacks of the ranks here end, by local index.
std::vector<std::uintptr_t> stack_ends(mpi::Job& ranks);
/// The library that ranks have their heap from. Failure: the installation is not complete.
Result<std::string> heap_library();
/// For mpi::Callbacks. `job` lives as long as the process.
const mpi::SavingCallbacks* saving_callbacks(const JobSpec& job);

/// --checkpoint: ranks are saved where they come together. Before any program is loaded.
void prepare_moments(const JobSpec& job);

/// Goes on with the calling rank, whose image has been mapped, as it was saved. On its own fiber. What
/// cannot be done ends the job with a sentence.
[[noreturn]] void revive_rank(const JobSpec& job, mpi::Rank& rank);

}  // namespace tmpi::launch
