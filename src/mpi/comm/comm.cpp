#include "mpi/comm/comm.hpp"

#include "mpi/base/errhandler.hpp"
#include "mpi/comm/group_ops.hpp"

namespace tmpi::mpi {

namespace {

// The other job that a communicator's groups have ranks of; there is one at most.
OtherJob* other_job_of(const Group& group, const Group& peers) noexcept {
  if (!other_jobs().any()) return nullptr;
  for (const Group* each : {&group, &peers}) {
    for (int rank = 0; rank < each->size(); ++rank) {
      if (of_other_job(each->world_rank(rank))) return other_jobs().at(job_of(each->world_rank(rank)));
    }
  }
  return nullptr;
}

}  // namespace

CommShared::CommShared(ContextId id, std::shared_ptr<const Group> members,
                       std::shared_ptr<CollShared> together)
    : context(id),
      group(std::move(members)),
      peers(group),
      coll(std::move(together)),
      other_job(other_job_of(*group, *peers)) {
  if (other_job != nullptr) other_jobs().count(*other_job);
}

CommShared::CommShared(ContextId id, std::shared_ptr<const Group> members,
                       std::shared_ptr<const Group> remote, std::shared_ptr<CollShared> both, int which)
    : context(id),
      group(std::move(members)),
      peers(std::move(remote)),
      coll(std::move(both)),
      side(which),
      first_member(which == 0 ? 0 : peers->size()),
      other_job(other_job_of(*group, *peers)) {
  if (other_job != nullptr) other_jobs().count(*other_job);
}

CommShared::~CommShared() {
  let_go();
}

void CommShared::let_go() noexcept {
  if (other_job != nullptr && !let_go_.exchange(true)) --other_job->communicators;
}

void list_in(Comm*& first, Comm& comm) noexcept {
  comm.next_made = first;
  comm.named_by = &first;
  if (first != nullptr) first->named_by = &comm.next_made;
  first = &comm;
}

void destroy(Comm& comm) noexcept {
  comm.magic = 0;
  if (comm.named_by != nullptr) *comm.named_by = comm.next_made;
  if (comm.next_made != nullptr) comm.next_made->named_by = comm.named_by;
  release(comm.errhandler);
  if (comm.local != nullptr) release(*comm.local);
  delete &comm;
}

}  // namespace tmpi::mpi
