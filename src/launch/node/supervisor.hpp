// Supervisor: on a machine where tmpirun is not, a process of tmpi-node's own watches over the node process,
// as tmpirun does where it is: whatever ends the node process, nothing of the job stays behind, not even
// children of ranks that have left its process group.
#pragma once

namespace tmpi::launch {

/// Forks: returns in the child, which leads a process group and dies with the supervisor. The supervisor
/// waits for the child, ends all its descendants, and ends with its exit code, or 128 plus the signal that
/// killed it.
///
/// `channel`: of an attached node process (attachment.hpp), -1: none. Where the node process has failed the
/// supervisor goes after tmpirun, whose affair the job's code is, and with 0; not if tmpirun does not answer.
void start_supervised(int channel = -1);

}  // namespace tmpi::launch
