#include "mpi/rma/create.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mpi/coll/coll.hpp"
#include "mpi/comm/context.hpp"
#include "mpi/comm/node_map.hpp"
#include "mpi/create/agreement.hpp"
#include "mpi/create/making.hpp"
#include "mpi/rma/epoch.hpp"
#include "mpi/rma/remote.hpp"

namespace tmpi::mpi {
namespace {

// What a member brings to the agreement, and takes away.
struct Record : Parts {
  Extent extent;
  bool contiguous = true;
  std::shared_ptr<WindowShared> window;
  void pack(Packer& packer) const {
    packer.value(extent);
    packer.value(contiguous);
  }
  void unpack(Unpacker& unpacker) {
    extent = unpacker.value<Extent>();
    contiguous = unpacker.value<bool>();
  }
};

Err check_order(const Comm& comm, const WindowOrder& order) {
  if (comm.inter())
    return fail(MPI_ERR_COMM,
                "the communicator is an intercommunicator: a window needs an intracommunicator");
  if (order.size < 0) return fail(MPI_ERR_SIZE, "size is {}: it must not be negative", order.size);
  if (order.disp_unit <= 0)
    return fail(MPI_ERR_DISP, "disp_unit is {}: it must be positive", order.disp_unit);
  if (order.flavor == MPI_WIN_FLAVOR_CREATE && order.base == nullptr && order.size > 0)
    return fail(MPI_ERR_BASE, "base is NULL, but size is {}", order.size);
  if (order.flavor == MPI_WIN_FLAVOR_SHARED && nodes_up_to_two(*comm.shared->group) > 1)
    return fail(MPI_ERR_RMA_SHARED,
                "members of the communicator live in several node processes and share no memory; "
                "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes communicators whose members do");
  return kOk;
}

bool is_true(const Info& hints, const char* key) {
  const std::string* const value = hints.find(key);
  return value != nullptr && *value == "true";
}

}  // namespace

Err create_window(Comm& comm, const WindowOrder& order, const Info& hints, Window*& created) {
  TMPI_TRY(check_order(comm, order));
  Record mine;
  mine.extent = {address_of(order.base), order.size, order.disp_unit};
  mine.contiguous = !is_true(hints, "alloc_shared_noncontig");
  const auto& group = comm.shared->group;
  agree(comm, mine, {.in_all = 1}, [&](Record** records, ContextSource& contexts) {
    const Parts made = make_intra(group, contexts);
    std::vector<Extent> extents;
    bool contiguous = true;
    for (int i = 0; i < group->size(); ++i) {
      extents.push_back(records[i]->extent);
      contiguous = contiguous && records[i]->contiguous;
    }
    const auto window = std::make_shared<WindowShared>(made.shared->context, group, order.flavor,
                                                       std::move(extents), contiguous);
    for (int i = 0; i < group->size(); ++i) {
      records[i]->shared = made.shared;
      records[i]->window = window;
    }
  });
  auto window = std::make_unique<Window>();
  window->shared = std::move(mine.window);
  window->members = window->shared.get();
  window->comm = make_comm(*comm.owner, std::move(mine), nullptr);
  window->rank = window->comm->rank;
  const ContextId context = window->comm->context;
  window->comm->name =
      fmt::format("{}.{}, made by rank {}", maker_of(context), number_of(context), maker_of(context));
  window->flavor_attribute = order.flavor;
  window->size_attribute = order.size;
  window->disp_unit_attribute = static_cast<int>(std::min<MPI_Aint>(order.disp_unit, 0x7fffffff));
  const bool several = nodes_up_to_two(*group) > 1;
  if (several) {
    window->remote = std::make_unique<RemoteState>();
    window->remote->peers.resize(static_cast<std::size_t>(job()->nodes()));
    listen_to_other_nodes();
  }
  set_hints(*window, hints);
  created = window.release();
  created->mine().window.store(created, std::memory_order_release);  // pairs with notice_arrived()
  // Nobody's message comes to a node that does not know the window.
  return several ? barrier(*created->comm) : kOk;
}

Err free_window(Window& window) {
  if ((window.epoch != Epoch::kNone && window.epoch != Epoch::kFence) || window.exposed)
    return wrong_epoch(window, "MPI_Win_free");
  TMPI_TRY(delete_attributes(bearer_of(window)));
  // Who has come here has finished all accesses: when all have, nobody looks for the window any more.
  TMPI_TRY(barrier(*window.comm));
  window.mine().window.store(nullptr, std::memory_order_release);
  window.magic = 0;
  release(window.errhandler);
  release(*window.comm);
  delete &window;
  return kOk;
}

Err query_memory(const Window& window, int rank, Extent& extent) {
  const WindowShared& members = *window.members;
  if (members.flavor == MPI_WIN_FLAVOR_DYNAMIC)
    return fail(MPI_ERR_RMA_FLAVOR,
                "the window is dynamic: it has no memory of its own that could be queried");
  if (rank == MPI_PROC_NULL) {
    for (int i = 0; i < members.size(); ++i) {
      if (members.member(i) == nullptr || members.extent(i).size == 0) continue;
      extent = members.extent(i);
      return kOk;
    }
    extent = Extent{};
    return kOk;
  }
  TMPI_TRY(check_member(window, rank));
  extent = members.extent(rank);
  if (members.member(rank) == nullptr) {
    extent.base = 0;
    extent.size = 0;
  }
  return kOk;
}

Bearer bearer_of(Window& window) noexcept {
  return {Carrier::kWin, handle_of(window), window.attributes, window.comm->owner->keyvals};
}

const void* predefined_attribute(Window& window, int keyval) noexcept {
  switch (keyval) {
    case MPI_WIN_BASE:
      return window.members->flavor == MPI_WIN_FLAVOR_DYNAMIC
                 ? MPI_BOTTOM
                 : reinterpret_cast<const void*>(window.members->extent(window.rank).base);
    case MPI_WIN_SIZE:
      return &window.size_attribute;
    case MPI_WIN_DISP_UNIT:
      return &window.disp_unit_attribute;
    case MPI_WIN_CREATE_FLAVOR:
      return &window.flavor_attribute;
    case MPI_WIN_MODEL:
      return &window.model_attribute;
    default:
      return nullptr;
  }
}

}  // namespace tmpi::mpi
