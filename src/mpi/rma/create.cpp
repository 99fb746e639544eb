#include "mpi/rma/create.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "mpi/base/memory_alignment.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/comm/context.hpp"
#include "mpi/comm/first_made.hpp"
#include "mpi/comm/node_map.hpp"
#include "mpi/create/agreement.hpp"
#include "mpi/create/making.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rma/epoch.hpp"
#include "mpi/rma/remote.hpp"

namespace tmpi::mpi {
namespace {

// What a member brings to the agreement, and takes away.
struct Record : Parts {
  Extent extent;
  bool contiguous = true;
  std::uint64_t alignment = 0;
  int mistake = MPI_SUCCESS;  // an error class
  std::shared_ptr<WindowShared> window;
  // Taken away: the first member with a mistake, which has this class; -1: nobody.
  int failed = -1, failed_class = MPI_SUCCESS;
  void pack(Packer& packer) const {
    packer.value(extent);
    packer.value(contiguous);
    packer.value(alignment);
    packer.value(mistake);
  }
  void unpack(Unpacker& unpacker) {
    extent = unpacker.value<Extent>();
    contiguous = unpacker.value<bool>();
    alignment = unpacker.value<std::uint64_t>();
    mistake = unpacker.value<int>();
  }
};

// What all members find alike.
Err check_comm(const Comm& comm, const WindowOrder& order) {
  if (comm.inter())
    return fail(MPI_ERR_COMM,
                "the communicator is an intercommunicator: a window needs an intracommunicator");
  if (comm.shared->other_job != nullptr)
    return fail(MPI_ERR_COMM, "the communicator has ranks of another job: tmpi has no windows there");
  if (order.flavor == MPI_WIN_FLAVOR_SHARED && nodes_up_to_two(*comm.shared->group) > 1)
    return fail(MPI_ERR_RMA_SHARED,
                "members of the communicator live in several node processes and share no memory; "
                "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes communicators whose members do");
  return kOk;
}

Err check_order(const WindowOrder& order) {
  TMPI_TRY(order.mistake);
  if (order.size < 0) return fail(MPI_ERR_SIZE, "size is {}: it must not be negative", order.size);
  if (order.disp_unit <= 0)
    return fail(MPI_ERR_DISP, "disp_unit is {}: it must be positive", order.disp_unit);
  if (order.flavor == MPI_WIN_FLAVOR_CREATE && order.base == nullptr && order.size > 0)
    return fail(MPI_ERR_BASE, "base is NULL, but size is {}", order.size);
  return kOk;
}

// The shared part of this node process, which its members take together; null: there is no memory for it.
std::shared_ptr<WindowShared> make_shared_part(const Parts& made, const std::shared_ptr<const Group>& group,
                                               int flavor, Record** records) {
  std::vector<Extent> extents;
  WindowMemory memory;
  for (int i = 0; i < group->size(); ++i) {
    extents.push_back(records[i]->extent);
    memory.contiguous = memory.contiguous && records[i]->contiguous;
    memory.alignments.push_back(records[i]->alignment);
  }
  try {
    return std::make_shared<WindowShared>(made.shared->context, group, flavor, std::move(extents), memory);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// The same in every node process: the first member with a mistake.
bool note_mistake(Record** records, int members) {
  for (int i = 0; i < members; ++i) {
    if (records[i]->mistake == MPI_SUCCESS) continue;
    for (int j = 0; j < members; ++j) {
      records[j]->failed = i;
      records[j]->failed_class = records[i]->mistake;
    }
    return true;
  }
  return false;
}

// Members of this communicator that have failed, when all have come. SUSPENDS.
Err count_failed(Comm& comm, bool mine, MPI_Count& all) {
  MPI_Count one = mine;
  Args args{.collective = Collective::kAllreduce};
  args.send = {.data = &one, .count = 1, .type = checked_type(MPI_COUNT)};
  args.recv = {.data = &all, .count = 1, .type = checked_type(MPI_COUNT)};
  args.op = op_from(MPI_SUM);
  return run(comm, args);
}

// What the window's own functions look at, as `members`, of whom `comm` is, has it.
void know_members(Window& window) {
  window.rank = window.comm->rank;
  window.size = static_cast<unsigned>(window.members->size());
  window.reach = window.members->reach();
  window.one_flow = one_flow_at_a_time();
  const Extent& own = window.members->extent(window.rank);
  window.flavor_attribute = window.members->flavor;
  window.size_attribute = own.size;
  window.disp_unit_attribute = static_cast<int>(std::min<MPI_Aint>(own.disp_unit, 0x7fffffff));
  if (nodes_up_to_two(*window.comm->shared->group) < 2) return;
  window.remote = std::make_unique<RemoteState>();
  window.remote->peers.resize(static_cast<std::size_t>(job()->nodes()));
  listen_to_other_nodes();
}

bool brings_memory(int flavor) noexcept {
  return flavor == MPI_WIN_FLAVOR_ALLOCATE && callbacks().saving != nullptr;
}

// Of a rank that is saved: with its own. Null: there is none.
void* memory_of_rank(MPI_Aint size, std::uint64_t alignment) noexcept {
  const std::size_t bytes = (static_cast<std::size_t>(size) / alignment + 1) * alignment;
  void* const memory = callbacks().saving->allocate(alignment, bytes);
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return memory;
}

// The window's, when it goes, or has not come to be.
void give_back_memory(int flavor, Address base) noexcept {
  if (brings_memory(flavor) && base != 0) callbacks().saving->release(reinterpret_cast<void*>(base));
}

}  // namespace

Err create_window(Comm& comm, const WindowOrder& order, const Info& hints, Window*& created) {
  TMPI_TRY(check_comm(comm, order));
  Err mistake = check_order(order);
  std::string explanation = mistake ? take_explanation() : std::string{};
  Record mine;
  mine.extent = {address_of(order.base), order.size, order.disp_unit};
  mine.contiguous = !hints.is_true("alloc_shared_noncontig");
  mine.alignment = memory_alignment(hints, kCacheLine);
  if (!mistake && brings_memory(order.flavor)) {
    mine.extent.base = address_of(memory_of_rank(order.size, mine.alignment));
    if (mine.extent.base == 0) mistake = fail(MPI_ERR_NO_MEM, "no memory for {} bytes", order.size);
    if (mistake) explanation = take_explanation();
  }
  mine.mistake = mistake.error_class();
  const std::uint64_t alignment = mine.alignment;
  const Address brought = mine.extent.base;
  const auto& group = comm.shared->group;
  agree(comm, mine, {.in_all = 1}, [&](Record** records, ContextSource& contexts) {
    if (note_mistake(records, group->size())) return;
    const Parts made = make_intra(group, contexts);
    const auto window = make_shared_part(made, group, order.flavor, records);
    for (int i = 0; i < group->size(); ++i) {
      records[i]->shared = made.shared;
      records[i]->window = window;
    }
  });
  if (mistake) {
    explain(std::move(explanation));
    return mistake;
  }
  if (mine.failed >= 0) {
    give_back_memory(order.flavor, brought);
    return fail(
        mine.failed_class,
        "rank {} of the communicator has called with an argument that is wrong, so nobody gets a window",
        mine.failed);
  }
  auto window = std::make_unique<Window>();
  window->shared = std::move(mine.window);
  window->members = window->shared.get();
  window->comm = make_comm(*comm.owner, std::move(mine), nullptr);
  const bool several = nodes_up_to_two(*group) > 1;
  bool no_memory = window->members == nullptr;
  if (!no_memory) {
    know_members(*window);
    const ContextId context = window->comm->context;
    window->comm->name = fmt::format("window {}.{} (made by rank {})", maker_of(context), number_of(context),
                                     maker_of(context));
    set_hints(*window, hints);
    if (order.flavor == MPI_WIN_FLAVOR_ALLOCATE || order.flavor == MPI_WIN_FLAVOR_SHARED)
      window->hints.emplace_back("mpi_minimum_memory_alignment", std::to_string(alignment));
    window->mine().window.store(window.get(), std::memory_order_release);  // pairs with notice_arrived()
  }
  if (several) {
    // Nobody's message comes to a node that does not know the window, or has no memory for it.
    MPI_Count failed = 0;
    if (Err error = count_failed(*window->comm, no_memory, failed)) {
      if (window->members == nullptr) give_back_memory(order.flavor, brought);
      destroy_window(window.release());
      return error;
    }
    no_memory = failed > 0;
  }
  if (no_memory) {
    if (window->members == nullptr) give_back_memory(order.flavor, brought);
    destroy_window(window.release());
    return fail(MPI_ERR_NO_MEM,
                "there is no memory for the window of all members{}; the calling rank has asked for {} bytes",
                several ? ", on one of their nodes at least" : "", order.size);
  }
  created = window.release();
  return kOk;
}

Err end_window(Window& window, bool& ended) {
  if ((window.epoch != Epoch::kNone && window.epoch != Epoch::kFence) || window.exposed)
    return wrong_epoch(window, "MPI_Win_free");
  TMPI_TRY(delete_attributes(bearer_of(window)));
  // Answers that are still to come, as after MPI_Win_complete, would not find the window.
  Err refused;
  if (window.remote != nullptr) refused = finish_remote(window, -1);
  std::string explanation = refused ? take_explanation() : std::string{};
  // Who has come here has finished all accesses: when all have, nobody looks for the window any more.
  TMPI_TRY(barrier(*window.comm));
  ended = true;
  if (refused) explain(std::move(explanation));
  return refused;
}

void revive_window(Window& window, Comm& comm, int flavor, std::vector<Extent> extents) {
  static FirstMade<WindowShared> made;
  window.shared = made.get(comm.context, [&] {
    return std::make_shared<WindowShared>(comm.context, comm.shared->group, flavor, std::move(extents),
                                          WindowMemory{});
  });
  window.members = window.shared.get();
  window.comm = &comm;
  know_members(window);
  window.mine().window.store(&window, std::memory_order_release);  // pairs with notice_arrived()
}

void destroy_window(Window* window) noexcept {
  if (window->members != nullptr) {
    window->mine().window.store(nullptr, std::memory_order_release);
    give_back_memory(window->members->flavor, window->members->extent(window->rank).base);
  }
  window->magic = 0;
  release(window->errhandler);
  release(*window->comm);
  delete window;
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
