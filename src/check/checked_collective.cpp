// The collective side of a CheckedCall: what members must agree on is read from the arguments and compared.
#include <algorithm>
#include <mutex>
#include <string_view>

#include "check/checked_call.hpp"
#include "check/misuse.hpp"
#include "mpi/base/errhandler.hpp"
#include "mpi/op/op.hpp"

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

/// The program goes on if the library refuses the call, which then is no collective; and whether it will,
/// for arguments that are not looked at here or a callback's sake, is known only afterwards.
bool may_be_refused(const mpi::Comm& members, const Function& function) {
  const mpi::Errhandler* handler = members.errhandler;
  const bool ends_job = handler == nullptr || handler->predefined == MPI_ERRORS_ARE_FATAL ||
                        handler->predefined == MPI_ERRORS_ABORT;
  if (ends_job) return false;
  const bool looked_at = function.match != Match::kFunction && function.match != Match::kRoot;
  const bool barrier = std::string_view(function.name).find("arrier") != std::string_view::npos;
  return members.inter() || !(looked_at || barrier);
}

}  // namespace

void CheckedCall::check_collective() {
  const MPI_Comm handle = comm();
  const mpi::Comm* known = comm_of(*record_->rank, handle);
  if (known == nullptr || known->members() == 1) return;
  const std::optional<CollectiveCall> call = describe(*known);
  if (!call) return;
  if (may_be_refused(*known, function_))
    late_ = Late{*call, handle, known->members()};
  else
    arrive(*call, handle, known->members());
}

void CheckedCall::arrive(const CollectiveCall& call, MPI_Comm handle, int members) {
  CallPlace comm_made;
  std::uint64_t sequence = 0;
  {
    const std::lock_guard guard(record_->lock);
    CommRecord* record = record_->comm_record(handle);
    if (record == nullptr) return;
    ledger_ = record->ledger;
    sequence = record->sequence++;
    members = std::min(members, record->members_here);
    if (const Tracked* tracked = record_->find(handle)) comm_made = tracked->made;
  }
  if (const std::optional<CollectiveCall> first = ledger_->arrive(sequence, members, call))
    report_mismatch(*record_, place(), call, *first, sequence, handle, comm_made);
}

void CheckedCall::give_up() {
  if (ledger_ == nullptr) {
    const std::lock_guard guard(record_->lock);
    if (const CommRecord* record = record_->comm_record(late_->handle)) ledger_ = record->ledger;
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
