#include "mpi/rma/operation.hpp"

#include <cstring>

#include "mpi/datatype/cursor.hpp"
#include "mpi/datatype/message.hpp"
#include "mpi/p2p/shared_copy.hpp"
#include "mpi/rma/combiner.hpp"
#include "mpi/rma/elements.hpp"
#include "mpi/rma/epoch.hpp"
#include "mpi/rma/place.hpp"
#include "mpi/rma/remote.hpp"
#include "mpi/rma/row.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

[[gnu::cold]] Err does_not_fit(const char* from, MPI_Count bytes, const char* to, MPI_Count room) {
  return fail(MPI_ERR_TRUNCATE, "the {} has {} bytes, but there is room for {} at the {}", from, bytes, room,
              to);
}

void finish(Request* request) noexcept {
  if (request != nullptr) request->complete();
}

[[gnu::noinline]] void copy_other(void* to, MPI_Count to_count, const Datatype& to_type, const void* from,
                                  MPI_Count from_count, const Datatype& from_type, const Window& window,
                                  int other) noexcept {
  if (!to_type.contiguous() || !from_type.contiguous()) {
    (void)copy_typed(to, to_count, to_type, from, from_count, from_type);
  } else if (const MPI_Count bytes = from_count * from_type.size(); bytes > 0) {
    copy_together(to, from, bytes, other != window.rank ? window.members->member(other)->rank : nullptr);
  }
}

// Copies between the calling rank and `other`, whose worker may help.
[[gnu::always_inline]] inline void copy(void* to, MPI_Count to_count, const Datatype& to_type,
                                        const void* from, MPI_Count from_count, const Datatype& from_type,
                                        const Window& window, int other) noexcept {
  if (to_type.contiguous() && from_type.contiguous() && from_count * from_type.size() == 8) {
    std::memcpy(to, from, 8);
  } else {
    copy_other(to, to_count, to_type, from, from_count, from_type, window, other);
  }
}

// Types whose elements are those of an accumulate: one predefined type, the same everywhere.
Err common_basic(const Datatype& target, const Datatype* origin, const Datatype* result,
                 const Datatype*& basic) {
  basic = basic_type_of(target);
  if (basic == nullptr)
    return fail(
        MPI_ERR_TYPE,
        "the target's datatype is made of several predefined types, or of none: an accumulate wants elements "
        "of one");
  for (const Datatype* other : {origin, result}) {
    if (other == nullptr || other == &target) continue;
    const Datatype* const theirs = basic_type_of(*other);
    if (theirs == basic ||
        (theirs != nullptr && theirs->kind() != Kind::kNone && theirs->kind() == basic->kind()))
      continue;
    return fail(MPI_ERR_TYPE,
                "the elements are {} at the target, but {} in the {}'s datatype: they must be the same",
                basic->name(), theirs == nullptr ? "not of one predefined type" : theirs->name(),
                other == origin ? "origin" : "result");
  }
  return kOk;
}

Err check_accumulate_op(const Op& op, const Datatype& basic) {
  if (!op.predefined())
    return fail(MPI_ERR_OP,
                "the operator is one made by MPI_Op_create: one-sided communication wants a predefined one");
  return check_op(op, basic);
}

}  // namespace

Err put(Window& window, const Data& origin, const Spot& target, Request* request) {
  if (target.rank == MPI_PROC_NULL) {
    finish(request);
    return kOk;
  }
  TMPI_TRY(check_access(window, target.rank));
  MPI_Aint displacement;
  TMPI_TRY(locate(window, target, displacement));
  if (origin.bytes() > target.bytes()) [[unlikely]]
    return does_not_fit("origin", origin.bytes(), "target", target.bytes());
  note_access(window);
  if (window.members->member(target.rank) == nullptr)
    return put_remote(window, origin, target, displacement, request);
  copy(reinterpret_cast<void*>(address_at(*window.members, target.rank, displacement)), target.count,
       *target.type, origin.address, origin.count, *origin.type, window, target.rank);
  finish(request);
  return kOk;
}

Err get(Window& window, const Data& origin, const Spot& target, Request* request) {
  if (target.rank == MPI_PROC_NULL) {
    finish(request);
    return kOk;
  }
  TMPI_TRY(check_access(window, target.rank));
  MPI_Aint displacement;
  TMPI_TRY(locate(window, target, displacement));
  if (target.bytes() > origin.bytes()) [[unlikely]]
    return does_not_fit("target", target.bytes(), "origin", origin.bytes());
  note_access(window);
  if (window.members->member(target.rank) == nullptr)
    return get_remote(window, origin, target, displacement, request);
  copy(origin.address, origin.count, *origin.type,
       reinterpret_cast<const void*>(address_at(*window.members, target.rank, displacement)), target.count,
       *target.type, window, target.rank);
  finish(request);
  return kOk;
}

namespace {

// Both accumulates; `result` has no type if it is not wanted.
Err combine(Window& window, const Op& op, const Data& origin, const Data& result, const Spot& target,
            Request* request) {
  if (target.rank == MPI_PROC_NULL) {
    finish(request);
    return kOk;
  }
  TMPI_TRY(check_access(window, target.rank));
  const bool brings = op.which != Operator::kNoOp;
  if (target.bytes() == 0 && (!brings || origin.bytes() == 0)) {
    note_access(window);
    finish(request);
    return kOk;
  }
  const Datatype* basic;
  TMPI_TRY(common_basic(*target.type, brings ? origin.type : nullptr, result.type, basic));
  TMPI_TRY(check_accumulate_op(op, *basic));
  MPI_Aint displacement;
  TMPI_TRY(locate(window, target, displacement));
  if (brings && origin.bytes() > target.bytes()) [[unlikely]]
    return does_not_fit("origin", origin.bytes(), "target", target.bytes());
  if (result.type != nullptr && target.bytes() > result.bytes()) [[unlikely]]
    return does_not_fit("target", target.bytes(), "result", result.bytes());
  note_access(window);
  if (window.members->member(target.rank) == nullptr)
    return combine_remote(window, op.which, *basic, origin, result, target, displacement, request);
  const MPI_Count elements = (brings ? origin.bytes() : target.bytes()) / basic->size();
  const bool is_alone = alone(window, target.rank);
  const Combiner combiner(op.which, *basic, is_alone);
  const bool mixes = elements > 1 && !is_alone;
  Row row(mixes ? &window.members->member(target.rank)->rows : nullptr, basic->size());
  combine_elements(combiner, row,
                   {address_at(*window.members, target.rank, displacement), target.count, target.type},
                   brings ? Elements{address_of(origin.address), origin.count, origin.type} : Elements{},
                   {address_of(result.address), result.count, result.type}, elements);
  finish(request);
  return kOk;
}

}  // namespace

Err accumulate(Window& window, const Op& op, const Data& origin, const Spot& target, Request* request) {
  return combine(window, op, origin, {}, target, request);
}

Err get_accumulate(Window& window, const Op& op, const Data& origin, const Data& result, const Spot& target,
                   Request* request) {
  return combine(window, op, origin, result, target, request);
}

Err fetch_and_op(Window& window, const Op& op, const void* origin, void* result, const Spot& target) {
  const Data from{const_cast<void*>(origin), 1, target.type}, to{result, 1, target.type};
  if (target.rank == MPI_PROC_NULL || window.members->member(target.rank) == nullptr)
    return combine(window, op, from, to, target, nullptr);
  TMPI_TRY(check_access(window, target.rank));
  TMPI_TRY(check_accumulate_op(op, *target.type));
  MPI_Aint displacement;
  TMPI_TRY(locate(window, target, displacement));
  note_access(window);
  Combiner(op.which, *target.type, alone(window, target.rank))
      .apply(address_at(*window.members, target.rank, displacement), origin, result, 1);
  return kOk;
}

Err compare_and_swap(Window& window, const void* origin, const void* compare, void* result,
                     const Spot& target) {
  if (target.rank == MPI_PROC_NULL) return kOk;
  TMPI_TRY(check_access(window, target.rank));
  MPI_Aint displacement;
  TMPI_TRY(locate(window, target, displacement));
  note_access(window);
  if (window.members->member(target.rank) == nullptr)
    return compare_and_swap_remote(window, origin, compare, result, target, displacement);
  Combiner::compare_and_swap(address_at(*window.members, target.rank, displacement), origin, compare, result,
                             *target.type, alone(window, target.rank));
  return kOk;
}

}  // namespace tmpi::mpi
