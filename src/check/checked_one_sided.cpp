// The one-sided side of a CheckedCall: what it does with its target's memory.
#include <fmt/core.h>

#include <mutex>
#include <string_view>

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

bool holds_lock(const mpi::Window& window, int target, bool& exclusive) {
  if (window.epoch != mpi::Epoch::kLock && window.epoch != mpi::Epoch::kLockAll) return false;
  const std::uint8_t held = window.targets[static_cast<std::size_t>(target)];
  exclusive = held == mpi::kExclusive;
  return held != mpi::kUnchecked;
}

}  // namespace

OneSidedAccess CheckedCall::one_sided(const mpi::Window& window, const Access& bytes,
                                      MPI_Datatype type) const {
  OneSidedAccess found;
  found.bytes = bytes;
  found.atomic = function_.one_sided == OneSided::kAtomic;
  found.unit = predefined(type) ? mpi::datatype_from(type) : nullptr;
  found.function = &function_;
  found.site = site_.address;
  found.rank = record_->rank->world_rank;
  found.local = record_->rank->local_index;
  found.target = static_cast<int>(number(function_.at.target));
  found.fenced = between_fences(window);
  found.locked = holds_lock(window, found.target, found.exclusive);
  found.by_request = std::string_view(function_.name).starts_with("MPI_R");
  found.returns = function_.one_sided == OneSided::kGet || function_.at.result >= 0;
  return found;
}

/// Nothing if it touches no memory, or the library will refuse it.
std::optional<OneSidedAccess> CheckedCall::of_target(const mpi::Window& window, int target) const {
  const Places& at = function_.at;
  const auto type = pointer<MPI_Datatype>(at.target_type);
  const MPI_Count count = at.target_count < 0 ? 1 : number(at.target_count);
  if (target < 0 || target >= window.members->size() || count < 0 || mpi::datatype_from(type) == nullptr)
    return std::nullopt;
  const bool nothing = at.op >= 0 && pointer<MPI_Op>(at.op) == MPI_NO_OP;
  const bool writes = function_.one_sided != OneSided::kGet && !nothing;
  const auto from = static_cast<std::uint64_t>(number(at.disp) * window.members->extent(target).disp_unit);
  const std::optional<Access> bytes =
      make_access(reinterpret_cast<const void*>(kOrigin + from), count, type, writes);
  return bytes ? std::optional(one_sided(window, *bytes, type)) : std::nullopt;
}

/// Likewise of the caller's own memory.
std::optional<OneSidedAccess> CheckedCall::of_buffer(const mpi::Window& window, int buffer, int counted,
                                                     int typed, bool writes) const {
  if (buffer < 0) return std::nullopt;
  const auto type = pointer<MPI_Datatype>(typed);
  const MPI_Count count = counted < 0 ? 1 : number(counted);
  if (count < 0 || pointer<const void*>(buffer) == nullptr || mpi::datatype_from(type) == nullptr)
    return std::nullopt;
  const std::optional<Access> bytes = make_access(pointer<const void*>(buffer), count, type, writes);
  if (!bytes) return std::nullopt;
  OneSidedAccess found = one_sided(window, *bytes, type);
  found.atomic = false;
  found.returns = true;  // it is free again with the first completion of any kind
  return found;
}

std::shared_ptr<Ledger> CheckedCall::window_ledger() const {
  const std::lock_guard guard(record_->lock);
  const CallOrder* order = record_->order_of(HandleKind::kWin, pointer<const void*>(function_.at.members));
  return order == nullptr ? nullptr : order->ledger;
}

/// What the rank knows goes with an atomic call, from the moment on in which the library is entered.
void CheckedCall::tell_by_atomic() {
  RankClocks* const clocks = RankClocks::instance();
  const std::shared_ptr<Ledger> ledger =
      clocks == nullptr || function_.one_sided != OneSided::kAtomic ? nullptr : window_ledger();
  if (ledger == nullptr) return;
  const int local = record_->rank->local_index;
  ledger->with_accesses([&](WindowAccesses& all) {
    clocks->tell(local, all.atomic);
    all.asks[local] = true;
  });
}

/// The library has accepted it.
void CheckedCall::check_one_sided() {
  const mpi::Window* window = mpi::window_from(pointer<MPI_Win>(function_.at.members));
  RankClocks* const clocks = RankClocks::instance();
  if (clocks == nullptr || window == nullptr || window->epoch == mpi::Epoch::kNone) return;
  const std::shared_ptr<Ledger> ledger = window_ledger();
  if (ledger == nullptr) return;
  const int local = record_->rank->local_index;
  const Clock known = clocks->of(local);
  const auto conflict = [&](int whose, const std::optional<OneSidedAccess>& access, const std::string& what) {
    if (!access) return;
    const auto other =
        ledger->with_accesses([&](WindowAccesses& all) { return all.add(whose, *access, known, clocks); });
    if (!other) return;
    const std::string who =
        other->rank == access->rank ? "the rank itself" : fmt::format("rank {}", other->rank);
    Checker::instance()->note_race(
        *record_->rank, place(),
        fmt::format("{} that {} accesses by {} {}", what, who,
                    Checker::instance()->readable({other->function, other->site}),
                    access->fenced && other->fenced ? "between the same fences"
                                                    : "with nothing that orders the two calls"));
  };
  const Places& at = function_.at;
  const int target = static_cast<int>(number(at.target));
  const std::optional<OneSidedAccess> access = of_target(*window, target);
  if (!access) return;
  if (access->by_request) {
    const std::lock_guard guard(record_->lock);
    if (record_->by_request.empty() || record_->by_request.back().lock() != ledger)
      record_->by_request.push_back(ledger);
  }
  conflict(target, access, fmt::format("memory of member {} of the window", target));
  const int own = -1 - window->rank;  // no member's number
  const bool gets = function_.one_sided == OneSided::kGet;
  const bool ignored = at.op >= 0 && pointer<MPI_Op>(at.op) == MPI_NO_OP;
  if (!ignored)
    conflict(own, of_buffer(*window, at.origin, at.origin_count, at.origin_type, gets), "a buffer");
  conflict(own, of_buffer(*window, at.result, at.result_count, at.result_type, true), "a buffer");
}

}  // namespace tmpi::check
