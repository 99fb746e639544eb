#include "mpi/rank/user_errors.hpp"

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

UserErrors& user_errors(Rank& rank) {
  if (rank.user_errors == nullptr) rank.user_errors = std::make_unique<UserErrors>();
  return *rank.user_errors;
}

}  // namespace tmpi::mpi
