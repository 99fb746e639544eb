// The collective side of a CheckedCall: what members must agree on is read from the arguments and compared.
#include <algorithm>
#include <mutex>
#include <string_view>

#include "check/checked_call.hpp"
#include "check/misuse.hpp"
#include "mpi/base/errhandler.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::check {
namespace {

MPI_Count bytes_of(MPI_Count count, MPI_Datatype handle) {
  const mpi::Datatype* type = mpi::datatype_from(handle);
  return type == nullptr ? CollectiveCall::kNothing : count * type->size();
}

const mpi::Datatype* predefined_type(MPI_Datatype handle) {
  return predefined(handle) ? mpi::datatype_from(handle) : nullptr;
}

bool usable(MPI_Count count, MPI_Datatype handle) {
  const mpi::Datatype* type = mpi::datatype_from(handle);
  return count >= 0 && type != nullptr && type->committed();
}

}  // namespace

/// A file's members, and those who open one or make a window, come together whatever is wrong with their arguments.
bool CheckedCall::takes_part_anyway() const {
  return function_.on == HandleKind::kFile || function_.match == Match::kOpen ||
         function_.match == Match::kWindow;
}

/// The program goes on if the library refuses the call, which then is no collective; and whether it will,
/// for arguments that are not looked at here or a callback's sake, is known only afterwards.
bool CheckedCall::may_be_refused(const mpi::Comm& members, const void* handle) const {
  if (takes_part_anyway()) return false;
  const bool on_window = function_.on == HandleKind::kWin;
  const mpi::Errhandler* handler =
      on_window ? mpi::window_from(static_cast<MPI_Win>(const_cast<void*>(handle)))->errhandler
                : members.errhandler;
  const bool ends_job = handler == nullptr || handler->predefined == MPI_ERRORS_ARE_FATAL ||
                        handler->predefined == MPI_ERRORS_ABORT;
  if (ends_job) return false;
  const bool looked_at = function_.match != Match::kFunction && function_.match != Match::kRoot;
  const bool barrier = std::string_view(function_.name).find("arrier") != std::string_view::npos;
  return on_window || members.inter() || !(looked_at || barrier);
}

void CheckedCall::check_collective() {
  const void* const handle = together();
  const mpi::Comm* known = members_of(*record_->rank, function_.on, handle);
  if (known == nullptr || (function_.on == HandleKind::kFile && !check_pending(handle))) return;
  if (known->members() == 1) return;
  const std::optional<CollectiveCall> call = describe(*known);
  if (!call) return;
  if (may_be_refused(*known, handle)) {
    late_ = Late{*call, handle, known->members()};
    meet_nowhere();
  } else {
    arrive(*call, handle, known->members());
  }
}

void CheckedCall::arrive(const CollectiveCall& call, const void* handle, int members) {
  CallPlace made;
  std::uint64_t sequence = 0;
  {
    const std::lock_guard guard(record_->lock);
    CallOrder* order = record_->order_of(function_.on, handle);
    if (order == nullptr) return;
    ledger_ = order->ledger;
    sequence = sequence_ = order->sequence++;
    members = members_here_ = std::min(members, order->members_here);
    if (const Tracked* tracked = record_->find(handle)) made = tracked->made;
  }
  if (const std::optional<CollectiveCall> first = ledger_->arrive(sequence, members, call))
    report_mismatch(*record_, place(), call, *first, sequence, handle, made);
  if (RankClocks* const clocks = RankClocks::instance())
    ledger_->meet(sequence, *clocks, record_->rank->local_index);
}

void CheckedCall::give_up() {
  if (ledger_ == nullptr) {
    const std::lock_guard guard(record_->lock);
    if (const CallOrder* order = record_->order_of(function_.on, late_->handle)) ledger_ = order->ledger;
  }
  if (ledger_ != nullptr) ledger_->give_up();
}

/// Nothing if the library will refuse the call: then it is no collective, and does not count.
std::optional<CollectiveCall> CheckedCall::describe(const mpi::Comm& members) const {
  const Places& at = function_.at;
  CollectiveCall call;
  call.function = &function_;
  call.site = site_.address;
  call.rank = record_->rank->world_rank;
  if (at.op >= 0) {
    const auto op = pointer<MPI_Op>(at.op);
    if (mpi::op_from(op) == nullptr) return std::nullopt;
    call.op = predefined(op) ? reinterpret_cast<std::uintptr_t>(op) : 1;
  }
  // Both sides of an intercommunicator say different things about root and data.
  if (members.inter()) return call;
  if (at.root >= 0) {
    if (number(at.root) < 0 || number(at.root) >= members.size) return std::nullopt;
    call.compares_root = true;
    call.root = static_cast<int>(number(at.root));
  }
  return describe_data(members, call) ? std::optional(call) : std::nullopt;
}

bool CheckedCall::describe_data(const mpi::Comm& members, CollectiveCall& call) const {
  const Places& at = function_.at;
  int count = at.count;
  int type = at.type;
  const bool is_root = call.compares_root && call.root == members.rank;
  switch (function_.match) {
    case Match::kNone:
    case Match::kFunction:
    case Match::kRoot:
      return true;
    case Match::kOpen:
    case Match::kWindow:
    case Match::kFence:
    case Match::kSize:
    case Match::kView:
    case Match::kSeek:
    case Match::kAtomicity:
      describe_agreed(call);
      return true;
    case Match::kGather:  // what a member gives is what the root takes
      if (is_root) count = at.receive_count, type = at.receive_type;
      break;
    case Match::kScatter:
      if (!is_root) count = at.receive_count, type = at.receive_type;
      break;
    case Match::kReceived:
      count = at.receive_count, type = at.receive_type;
      break;
    case Match::kReduceBlock:
      count = at.receive_count;
      break;
    case Match::kReduceScatter:
      call.count = sum_of_counts(members.size);
      call.type = predefined_type(pointer<MPI_Datatype>(type));
      return call.count >= 0 && usable(0, pointer<MPI_Datatype>(type));
    case Match::kBcast:
    case Match::kReduce:
    case Match::kReduceAll:
      break;
  }
  const auto handle = pointer<MPI_Datatype>(type);
  if (!usable(number(count), handle)) return false;
  call.bytes = bytes_of(number(count), handle);
  if (call.op != 0) call.count = number(count);
  if (number(count) > 0) call.type = predefined_type(handle);
  return true;
}

MPI_Count CheckedCall::sum_of_counts(int members) const {
  const int argument = function_.at.receive_count;
  if (word(argument) == 0) return CollectiveCall::kNothing;
  MPI_Count sum = 0;
  for (int i = 0; i < members; ++i) {
    const MPI_Count count =
        function_.large ? pointer<const MPI_Count*>(argument)[i] : pointer<const int*>(argument)[i];
    if (count < 0) return CollectiveCall::kNothing;
    sum += count;
  }
  return sum;
}

}  // namespace tmpi::check
