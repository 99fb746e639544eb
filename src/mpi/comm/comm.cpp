#include "mpi/comm/comm.hpp"

#include "mpi/coll/coll_shared.hpp"
#include "mpi/core/errhandler.hpp"
#include "mpi/core/rank.hpp"

namespace tmpi::mpi {

CommShared::CommShared(ContextId id, std::shared_ptr<const Group> members,
                       std::shared_ptr<const Group> remote)
    : context(id),
      group(std::move(members)),
      peers(remote != nullptr ? std::move(remote) : group),
      coll(std::make_unique<CollShared>(group)) {}

CommShared::~CommShared() = default;

void release(Comm& comm) noexcept {
  if (--comm.references > 0) return;
  comm.magic = 0;
  release(comm.errhandler);
  if (comm.local != nullptr) release(*comm.local);
  delete &comm;
}

Comm* comm_from(MPI_Comm handle) noexcept {
  constexpr std::uintptr_t kConstants = 4096;  // handles below are the ABI's constants
  if (handle == MPI_COMM_WORLD) return &current_rank().world;
  if (reinterpret_cast<std::uintptr_t>(handle) < kConstants) {
    return handle == MPI_COMM_SELF ? &current_rank().self : nullptr;
  }
  Comm* comm = reinterpret_cast<Comm*>(handle);
  return comm->magic == Comm::kMagic ? comm : nullptr;
}

}  // namespace tmpi::mpi
