#include "mpi/create/idup.hpp"

#include <memory>
#include <string>
#include <utility>

#include "mpi/base/status.hpp"
#include "mpi/coll/nonblocking.hpp"
#include "mpi/create/create.hpp"
#include "mpi/create/making.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/shm/coll_shared.hpp"
#include "mpi/shm/gathering.hpp"

namespace tmpi::mpi {
namespace {

// The rank's new communicator, from the call on.
class Duplicate {
 public:
  Duplicate(Comm& parent, Comm& created) : parent_(parent), created_(&created) {
    parts.topology = parent.topology;
    created.magic = 0;  // nobody may use it yet
  }

  /// Once, on the rank's own flow of control, after the last member has come.
  void finish() {
    if (created_->shared != nullptr || parts.shared == nullptr) return;
    fill_comm(*created_, *parent_.owner, std::move(parts), parent_.errhandler);
    created_->magic = Comm::kMagic;
  }
  /// The program will not get it: it goes when the others have theirs.
  void give_up() noexcept { unwanted_ = true; }
  void retire() {
    finish();
    if (unwanted_) release(*created_);
  }

  Parts parts;

 private:
  Comm& parent_;  // kept alive by the request
  Comm* const created_;
  bool unwanted_ = false;
};

// All members in this node process: whoever comes last does the work.
class Duplication final : public RequestExtension {
 public:
  Duplication(Comm& parent, Comm& created) : parent_(parent), duplicate_(parent, created) {}
  Duplicate& duplicate() noexcept { return duplicate_; }

  Err start(Request& request) override {
    const GatheringName name{.purpose = GatheringName::Purpose::kDup,
                             .context = parent_.context,
                             .tag = std::to_string(parent_.idup_sequence++),
                             .group = nullptr};
    gather(name, parent_.seats(), parent_.seat(), &duplicate_.parts, request, [this](void** parts) {
      ContextSource contexts;
      fulfil_dup(parent_, reinterpret_cast<Parts**>(parts), contexts);
    });
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
  Comm& parent_;
  Duplicate duplicate_;
};

// Members in several node processes: an operation on a track, which makes the agreement meanwhile.
class DuplicationOnTrack final : public TrackOperation {
 public:
  DuplicationOnTrack(Comm& parent, Comm& created)
      : TrackOperation("MPI_Comm_idup", tracks_of(parent).next()), duplicate_(parent, created) {}
  Duplicate& duplicate() noexcept { return duplicate_; }

  Err outcome(Request& request, MPI_Status* status) override {
    TMPI_TRY(TrackOperation::outcome(request, status));
    duplicate_.finish();
    return kOk;
  }
  Err retire(Request&) override {
    duplicate_.retire();
    return kOk;
  }

 private:
  // The track has the members of the communicator.
  Err perform(Comm& track) override {
    agree(track, duplicate_.parts, dup_demand(track),
          [&](Parts** parts, ContextSource& contexts) { fulfil_dup(track, parts, contexts); });
    return kOk;
  }

  Duplicate duplicate_;
};

}  // namespace

namespace {

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
  return meeting_of(parent).layout().nodes == 1
             ? start_as<Duplication>(parent, hints, created, handle)
             : start_as<DuplicationOnTrack>(parent, hints, created, handle);
}

}  // namespace tmpi::mpi
