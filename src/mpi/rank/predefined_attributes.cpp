#include "mpi/rank/predefined_attributes.hpp"

#include "mpi/comm/check.hpp"
#include "mpi/rank/attributes.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/user_errors.hpp"

namespace tmpi::mpi {
namespace {

// The same for every rank; never written.
const int tag_upper_bound = kTagUpperBound;
const int no_host = MPI_PROC_NULL;  // no rank is a host process
const int every_rank = MPI_ANY_SOURCE;
const int clocks_agree = 1;  // they are the machine's
const int clocks_differ = 0;

}  // namespace

bool predefined_key(int keyval) noexcept {
  return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE;
}

const int* predefined_attribute(Rank& rank, int keyval) {
  switch (keyval) {
    case MPI_TAG_UB:
      return &tag_upper_bound;
    case MPI_HOST:
      return &no_host;
    case MPI_IO:
      return &every_rank;
    case MPI_WTIME_IS_GLOBAL:
      return job()->placement().one_machine() ? &clocks_agree : &clocks_differ;
    case MPI_LASTUSEDCODE:
      return user_errors(rank).last_used();
    case MPI_UNIVERSE_SIZE:
      return keyvals(rank).remember(
          keyval, callbacks().universe_size != nullptr ? callbacks().universe_size() : job()->size());
    case MPI_APPNUM: {
      const int number = callbacks().start_info != nullptr ? callbacks().start_info(rank).app_number : -1;
      return number < 0 ? nullptr : keyvals(rank).remember(keyval, number);
    }
    default:
      return nullptr;
  }
}

}  // namespace tmpi::mpi
