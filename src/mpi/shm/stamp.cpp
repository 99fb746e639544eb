#include "mpi/shm/stamp.hpp"

#include <cstdlib>

namespace tmpi::mpi {

void (*detail::g_report_mismatch)(const Comm&, Stamp, Stamp, const Rank*) noexcept = nullptr;

void stamps_differ(const Comm& comm, Stamp mine, Stamp other, const Rank* there) noexcept {
  if (detail::g_report_mismatch != nullptr) detail::g_report_mismatch(comm, mine, other, there);
  std::abort();  // the report has ended the job
}

}  // namespace tmpi::mpi
