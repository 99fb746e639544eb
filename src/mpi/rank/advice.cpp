#include "mpi/rank/advice.hpp"

namespace tmpi::mpi {
namespace {

bool checked = false;

}  // namespace

void note_checked_job() noexcept {
  checked = true;
}

bool job_is_checked() noexcept {
  return checked;
}

}  // namespace tmpi::mpi
