#include "mpi/comm/comm.hpp"

#include "mpi/coll/coll_shared.hpp"
#include "mpi/core/errhandler.hpp"
#include "mpi/core/rank.hpp"

namespace tmpi::mpi {

CommShared::CommShared(ContextId id, std::shared_ptr<const Group> members)
    : context(id), group(std::move(members)), peers(group), coll(std::make_shared<CollShared>(group)) {}

CommShared::CommShared(ContextId id, std::shared_ptr<const Group> members,
                       std::shared_ptr<const Group> remote, std::shared_ptr<CollShared> both, int which)
    : context(id),
      group(std::move(members)),
      peers(std::move(remote)),
      coll(std::move(both)),
      side(which),
      first_member(which == 0 ? 0 : peers->size()) {}

CommShared::~CommShared() = default;

void release(Comm& comm) noexcept {
  if (--comm.references > 0) return;
  comm.magic = 0;
  release(comm.errhandler);
  if (comm.local != nullptr) release(*comm.local);
  delete &comm;
}

namespace {

// Without MPI_Init (sessions only), and after MPI_Finalize, there are none.
Comm* predefined(MPI_Comm handle) noexcept {
  Rank& rank = current_rank();
  Comm* comm = handle == MPI_COMM_WORLD ? &rank.world : handle == MPI_COMM_SELF ? &rank.self : nullptr;
  return comm != nullptr && comm->shared != nullptr ? comm : nullptr;
}

}  // namespace

Comm* comm_from(MPI_Comm handle) noexcept {
  constexpr std::uintptr_t kConstants = 4096;  // handles below are the ABI's constants
  if (reinterpret_cast<std::uintptr_t>(handle) < kConstants) return predefined(handle);
  Comm* comm = reinterpret_cast<Comm*>(handle);
  return comm->magic == Comm::kMagic ? comm : nullptr;
}

}  // namespace tmpi::mpi
