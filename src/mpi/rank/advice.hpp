// What reports need not advise, since it is so.
#pragma once

namespace tmpi::mpi {

/// The job runs with --check. Before any rank runs.
void note_checked_job() noexcept;
bool job_is_checked() noexcept;

}  // namespace tmpi::mpi
