// Whether a program that would be a job of one rank was meant to be part of another job.
#pragma once

namespace tmpi::launch {

/// Ends the process, and with it the job, if a rank of a job of several has started it; warns if another MPI's
/// launcher has.
void check_surroundings();

}  // namespace tmpi::launch
