#include "mpi/comm/comm.hpp"

#include "mpi/base/errhandler.hpp"

namespace tmpi::mpi {

CommShared::CommShared(ContextId id, std::shared_ptr<const Group> members,
                       std::shared_ptr<CollShared> together)
    : context(id), group(std::move(members)), peers(group), coll(std::move(together)) {}

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

}  // namespace tmpi::mpi
