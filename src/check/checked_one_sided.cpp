// The one-sided side of a CheckedCall: what it does with its target's memory.
#include <fmt/core.h>

#include <mutex>

#include "check/checked_call.hpp"
#include "check/checker.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::check {
namespace {

// Displacements may be negative in dynamic windows and types have lower bounds; 0 is no buffer.
constexpr std::uint64_t kOrigin = std::uint64_t{1} << 62;

bool between_fences(const mpi::Window& window) {
  return window.epoch == mpi::Epoch::kFence || window.epoch == mpi::Epoch::kFenceUsed;
}

}  // namespace

/// Nothing if it touches no memory, or the library will refuse it.
std::optional<OneSidedAccess> CheckedCall::describe_one_sided(const mpi::Window& window, int target) const {
  const Places& at = function_.at;
  const auto type = pointer<MPI_Datatype>(at.target_type);
  const MPI_Count count = at.target_count < 0 ? 1 : number(at.target_count);
  if (target < 0 || target >= window.members->size() || count < 0 || mpi::datatype_from(type) == nullptr)
    return std::nullopt;
  OneSidedAccess found;
  const auto op = at.op < 0 ? MPI_OP_NULL : pointer<MPI_Op>(at.op);
  found.atomic = function_.one_sided == OneSided::kAtomic;
  const bool writes = function_.one_sided != OneSided::kGet && op != MPI_NO_OP;
  const auto from = static_cast<std::uint64_t>(number(at.disp) * window.members->extent(target).disp_unit);
  const std::optional<Access> bytes =
      make_access(reinterpret_cast<const void*>(kOrigin + from), count, type, writes);
  if (!bytes) return std::nullopt;
  found.bytes = *bytes;
  found.unit = predefined(type) ? mpi::datatype_from(type) : nullptr;
  found.function = &function_;
  found.site = site_.address;
  found.rank = record_->rank->world_rank;
  return found;
}

void CheckedCall::check_one_sided() {
  const mpi::Window* window = mpi::window_from(pointer<MPI_Win>(function_.at.members));
  if (window == nullptr || !between_fences(*window)) return;
  const int target = static_cast<int>(number(function_.at.target));
  const std::optional<OneSidedAccess> access = describe_one_sided(*window, target);
  if (!access) return;
  std::shared_ptr<Ledger> ledger;
  std::uint64_t fence = 0;
  {
    const std::lock_guard guard(record_->lock);
    const CallOrder* order = record_->order_of(HandleKind::kWin, pointer<const void*>(function_.at.members));
    if (order == nullptr) return;
    ledger = order->ledger;
    fence = order->sequence;
  }
  const std::optional<OneSidedAccess> other = ledger->access(fence, target, *access);
  if (!other) return;
  const std::string who =
      other->rank == access->rank ? "the rank itself" : fmt::format("rank {}", other->rank);
  Checker::instance()->note_race(
      *record_->rank, place(),
      fmt::format("memory of member {} of the window that {} accesses by {} between the same fences", target,
                  who, Checker::instance()->readable({other->function, other->site})));
}

}  // namespace tmpi::check
