#include "mpi/create/idup.hpp"

#include <memory>
#include <string>
#include <utility>

#include "mpi/base/errhandler.hpp"
#include "mpi/base/status.hpp"
#include "mpi/coll/nonblocking.hpp"
#include "mpi/create/create.hpp"
#include "mpi/create/making.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/shm/coll_shared.hpp"
#include "mpi/shm/keyed_barrier.hpp"

namespace tmpi::mpi {
namespace {

// The rank's new communicator, from the call on.
class Duplicate {
 public:
  /// `created` cannot be used yet, but what the program sets of it is in force from its completion on.
  Duplicate(Comm& parent, Comm& created) : parent_(parent), created_(&created) {
    parts.topology = parent.topology;
    created.magic = Comm::kComing;
    created.errhandler = parent.errhandler;
    retain(created.errhandler);
    ++created.references;  // the program may free it before it is there
  }

  /// Once, on the rank's own flow of control, after the last member has come.
  void finish() {
    if (created_->shared != nullptr || parts.shared == nullptr) return;
    Errhandler* const chosen = created_->errhandler;
    fill_comm(*created_, *parent_.owner, std::move(parts), chosen);
    release(chosen);  // it has been taken once more
    created_->session = parent_.session;
    created_->magic = Comm::kMagic;
  }
  /// The program will not get it: it goes when the others have theirs.
  void give_up() noexcept { release(*created_); }
  void retire() {
    finish();
    release(*created_);
  }

  Parts parts;

 private:
  Comm& parent_;  // kept alive by the request
  Comm* const created_;
};

// All members in this node process: whoever comes last does the work, and completes the others' requests.
class Duplication final : public RequestExtension, private WaitingContinuation {
 public:
  Duplication(Comm& parent, Comm& created) : parent_(parent), duplicate_(parent, created) {}
  Duplicate& duplicate() noexcept { return duplicate_; }

  Err start(Request& request) override {
    const BarrierKey key{.purpose = BarrierKey::Purpose::kDup,
                         .context = parent_.context,
                         .tag = std::to_string(parent_.idup_sequence++),
                         .group = nullptr};
    const auto make = [this](void** parts) {
      ContextSource contexts;
      fulfil_dup(parent_, reinterpret_cast<Parts**>(parts), contexts);
    };
    request_ = &request;
    if (arrive_at(key, parent_.members(), parent_.member_index(), &duplicate_.parts, make, this)) proceed();
    return kOk;
  }
  Err outcome(Request&, MPI_Status* status) override {
    duplicate_.finish();
    set_empty_status(status);
    return kOk;
  }
  Err retire(Request&) override {
    duplicate_.retire();
    return kOk;
  }

 private:
  void proceed() noexcept override { request_->complete(); }

  Comm& parent_;
  Request* request_ = nullptr;
  Duplicate duplicate_;
};

// Members in several node processes: an operation on a shadow communicator, which makes the agreement
// meanwhile.
class DuplicationOnShadow final : public ShadowOperation {
 public:
  DuplicationOnShadow(Comm& parent, Comm& created)
      : ShadowOperation("MPI_Comm_idup", shadows_of(parent).next()), duplicate_(parent, created) {}
  Duplicate& duplicate() noexcept { return duplicate_; }

  Err outcome(Request& request, MPI_Status* status) override {
    TMPI_TRY(ShadowOperation::outcome(request, status));
    duplicate_.finish();
    return kOk;
  }
  Err retire(Request&) override {
    duplicate_.retire();
    return kOk;
  }

 private:
  // The shadow has the members of the communicator.
  Err perform(Comm& shadow) override {
    agree(shadow, duplicate_.parts, dup_demand(shadow),
          [&](Parts** parts, ContextSource& contexts) { fulfil_dup(shadow, parts, contexts); });
    return kOk;
  }

  Duplicate duplicate_;
};

template <class Extension>
Err start_as(Comm& parent, const Info* hints, Comm*& created, MPI_Request& handle) {
  auto* fresh = new Comm;
  fresh->handle = reinterpret_cast<MPI_Comm>(fresh);
  fresh->owner = parent.owner;
  auto extension = std::make_unique<Extension>(parent, *fresh);
  Duplicate& started = extension->duplicate();
  Request& request = create_request(&parent, std::move(extension), false);
  TMPI_TRY(start(request));
  handle = handle_of(request);
  if (Err error = copy_cached(parent, hints, *fresh)) {
    started.give_up();
    (void)free_request(handle, request);
    return error;
  }
  created = fresh;
  return kOk;
}

}  // namespace

Err start_duplicate(Comm& parent, const Info* hints, Comm*& created, MPI_Request& handle) {
  return barrier_of(parent).groups().nodes == 1
             ? start_as<Duplication>(parent, hints, created, handle)
             : start_as<DuplicationOnShadow>(parent, hints, created, handle);
}

}  // namespace tmpi::mpi
