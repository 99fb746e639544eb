#include "mpi/comm/idup.hpp"

#include <memory>
#include <string>
#include <utility>

#include "mpi/comm/create.hpp"
#include "mpi/comm/gathering.hpp"
#include "mpi/comm/making.hpp"
#include "mpi/core/status.hpp"
#include "mpi/p2p/lifecycle.hpp"

namespace tmpi::mpi {
namespace {

class Duplication final : public RequestExtension {
 public:
  Duplication(Comm& parent, Comm& created) : parent_(parent), created_(&created) {
    order_.topology = parent.topology;
    created.magic = 0;  // nobody may use it yet
  }

  Err start(Request& request) override {
    const GatheringName name{.purpose = GatheringName::Purpose::kDup,
                             .context = parent_.context,
                             .tag = std::to_string(parent_.idup_sequence++),
                             .group = nullptr};
    gather(name, parent_.seats(), parent_.seat(), &order_, request,
           [this](void** orders) { fulfil_dup(parent_, reinterpret_cast<Order**>(orders)); });
    return kOk;
  }

  Err outcome(Request&, MPI_Status* status) override {
    finish();
    set_empty_status(status);
    return kOk;
  }

  Err retire(Request&) override {
    finish();
    if (unwanted_) release(*created_);
    return kOk;
  }

  /// The program will not get it: it goes when the others have theirs.
  void give_up() noexcept { unwanted_ = true; }

 private:
  // Once, on the rank's own flow of control, after the last member has come.
  void finish() {
    if (created_->shared != nullptr) return;
    fill_comm(*created_, *parent_.owner, std::move(order_), parent_.errhandler);
    created_->magic = Comm::kMagic;
  }

  Comm& parent_;  // kept alive by the request
  Comm* const created_;
  Order order_;
  bool unwanted_ = false;
};

}  // namespace

Err start_duplicate(Comm& parent, const Info* hints, Comm*& created, MPI_Request& handle) {
  auto* fresh = new Comm;
  fresh->handle = reinterpret_cast<MPI_Comm>(fresh);
  fresh->owner = parent.owner;
  auto duplication = std::make_unique<Duplication>(parent, *fresh);
  Duplication& started = *duplication;
  Request& request = create_request(&parent, std::move(duplication), false);
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

}  // namespace tmpi::mpi
