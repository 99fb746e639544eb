#include "check/checked_call.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "check/checker.hpp"
#include "check/misuse.hpp"
#include "mpi/datatype/markers.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rank/threads.hpp"
#include "mpi/request/request.hpp"
#include "observe/recording.hpp"

namespace tmpi::check {

CheckedCall::CheckedCall(const Function& function, const std::uint64_t* words, const void* frame)
    : function_(function), words_(words) {
  const mpi::Rank* rank = mpi::calling_rank();
  if (rank == nullptr) return;
  site_ = mpi::caller_of(*rank, frame);
  record_ = &Checker::instance()->record(*rank);
  initialized_ = rank->phase == mpi::Phase::kInitialized;
  if (initialized_) {
    check_handles(false);
    check_handles(true);  // which of them count is known only with the communicator
    note_liberties();
    if (function_.distribs >= 0) note_cyclic_of_19();
    find_accesses();
    check_accesses();
    if (function_.starts) start_requests();
    if (function_.pattern != Pattern::kNone) check_sides();
    if (function_.ordering != Ordering::kNone) order_before();
    if (function_.match != Match::kNone) check_collective();
    if (function_.one_sided != OneSided::kNone) tell_by_atomic();
  }
  if (observe::Recording* recording = observe::Recording::instance()) recording->call_comes_from(site_);
}

/// The handle of the communicator, window or file whose members make the call together.
const void* CheckedCall::together() const {
  // MPI_Finalize, which all ranks call together.
  if (function_.at.members < 0) return function_.match == Match::kNone ? nullptr : MPI_COMM_WORLD;
  const auto argument = function_.at.members;
  const bool behind_pointer = function_.handles[0].use == Use::kFreed;  // MPI_Comm_free
  if (!behind_pointer || word(argument) == 0) return pointer<const void*>(argument);
  return *pointer<const void* const*>(argument);
}

MPI_Comm CheckedCall::comm() const {
  return function_.at.comm < 0 ? MPI_COMM_NULL : static_cast<MPI_Comm>(const_cast<void*>(together()));
}

int CheckedCall::length(const HandleUse& use) const {
  return use.length < 0 ? 1 : static_cast<int>(std::max<MPI_Count>(number(use.length), 0));
}

const void* const* CheckedCall::handles_at(const HandleUse& use) const {
  return by_value(use) ? reinterpret_cast<const void* const*>(&words_[use.argument])
                       : pointer<const void* const*>(use.argument);
}

// --- handles

void CheckedCall::check_handles(bool types) {
  for (int i = 0; i < function_.handle_count; ++i) {
    const HandleUse& use = function_.handles[static_cast<std::size_t>(i)];
    if ((use.kind == HandleKind::kType) != types) continue;
    if (use.use >= Use::kOut || (types && !significant(use))) continue;
    const void* const* handles = handles_at(use);
    if (handles == nullptr) continue;
    const bool keep =
        use.use == Use::kFreed || use.use == Use::kCompleted || use.use == Use::kQueried || function_.starts;
    const int count = length(use);
    for (int k = 0; k < count; ++k) {
      const Saved found = check_handle(handles[k], use, use.length < 0 ? -1 : k);
      if (keep) save(found);
    }
  }
}

namespace {

/// It may be called for a communicator whose MPI_Comm_idup is under way.
bool takes_coming_comm(const Function& function) noexcept {
  constexpr auto kThose = std::to_array<std::string_view>(
      {"MPI_Comm_free", "MPI_Comm_set_errhandler", "MPI_Comm_set_info", "MPI_Comm_set_name"});
  return std::ranges::find(kThose, function.name) != kThose.end();
}

}  // namespace

CheckedCall::Saved CheckedCall::check_handle(const void* handle, const HandleUse& use, int index) {
  if (predefined(handle)) return {};
  HandleKind kind{};
  bool live = false, coming = false;
  CallPlace made, freed;
  {
    const std::lock_guard guard(record_->lock);
    if (const Tracked* tracked = record_->find(handle)) {
      coming = tracked->coming && !takes_coming_comm(function_);
      if (tracked->live && tracked->kind == use.kind && !coming) [[likely]]
        return {handle, tracked->serial};
      kind = tracked->kind;
      live = tracked->live;
      made = tracked->made;
      freed = tracked->freed;
    }
  }
  const BadHandle bad{handle, use.kind, index};
  if (made.function == nullptr || (!live && kind != use.kind)) report_unknown(*record_, place(), bad);
  if (live && coming && kind == use.kind) report_coming(*record_, place(), bad, made);
  if (live) report_other_kind(*record_, place(), bad, kind, made);
  report_freed(*record_, place(), bad, made, freed);
}

/// What the library accepts and the report does not define: an operator on a type, or a type that is none.
void CheckedCall::note_liberties() {
  const mpi::Op* op = nullptr;
  const mpi::Datatype* type = nullptr;
  bool one_sided = false;
  for (int i = 0; i < function_.handle_count; ++i) {
    const HandleUse& use = function_.handles[static_cast<std::size_t>(i)];
    one_sided |= use.kind == HandleKind::kWin;
    if (use.use == Use::kInPlace && use.kind == HandleKind::kType) note_markers(use);
    if (use.use != Use::kIn || !predefined(pointer<const void*>(use.argument))) continue;
    if (use.kind == HandleKind::kOp) op = mpi::op_from(pointer<MPI_Op>(use.argument));
    if (use.kind != HandleKind::kType) continue;
    type = mpi::datatype_from(pointer<MPI_Datatype>(use.argument));
    if (type == nullptr) note_markers(use);
  }
  if (op == nullptr || type == nullptr) return;
  if (!one_sided && (op->which == mpi::Operator::kReplace || op->which == mpi::Operator::kNoOp)) {
    Checker::instance()->note_liberty(
        *record_->rank, place(),
        fmt::format("{}, which is for one-sided communication", mpi::name_of(op->which)));
  }
  if (!mpi::beyond_the_report(*op, *type)) return;
  Checker::instance()->note_liberty(*record_->rank, place(),
                                    fmt::format("{} on {}", mpi::name_of(op->which), type->name()));
}

void CheckedCall::note_markers(const HandleUse& use) {
  const void* const* handles = handles_at(use);
  for (int k = 0; handles != nullptr && k < length(use); ++k) {
    const char* name = mpi::marker_name(static_cast<MPI_Datatype>(const_cast<void*>(handles[k])));
    if (name == nullptr) continue;
    Checker::instance()->note_liberty(*record_->rank, place(),
                                      fmt::format("{}, which MPI 3.0 removed", name));
  }
}

/// MPI_DISTRIBUTE_DFLT_DARG is 19 in the ABI, a number that a program may have meant.
void CheckedCall::note_cyclic_of_19() {
  const int dimensions =
      static_cast<int>(number(function_.distribs - 2));  // size, rank, ndims, gsizes, distribs
  const int* const distributions = pointer<const int*>(function_.distribs);
  const int* const arguments = pointer<const int*>(function_.distribs + 1);
  for (int i = 0; distributions != nullptr && arguments != nullptr && i < dimensions; ++i) {
    if (distributions[i] != MPI_DISTRIBUTE_CYCLIC || arguments[i] != MPI_DISTRIBUTE_DFLT_DARG) continue;
    Checker::instance()->note_ambiguity(
        *record_->rank, place(),
        fmt::format("array_of_dargs[{}] is {}, which is MPI_DISTRIBUTE_DFLT_DARG: blocks of one element, as "
                    "CYCLIC(1), and not of {}",
                    i, arguments[i], arguments[i]));
  }
}

/// Some collectives look at a datatype at the root only, or not at all with MPI_IN_PLACE.
bool CheckedCall::significant(const HandleUse& use) const {
  const Places& at = function_.at;
  if (at.receive_type < 0 || at.comm < 0 || at.dest >= 0) return true;
  const bool sent = use.argument == at.type;
  if (pointer<const void*>(sent ? at.buffer : at.receive_buffer) == MPI_IN_PLACE) return false;
  if (at.root < 0) return true;
  const mpi::Comm* members = comm_of(*record_->rank, comm());
  if (members == nullptr || members->inter()) return false;
  const bool gathers = function_.match == Match::kGather ||
                       (function_.match == Match::kRoot &&
                        std::string_view(function_.name).find("ather") != std::string_view::npos);
  return sent == gathers || number(at.root) == members->rank;
}

void CheckedCall::save(const Saved& saved) {
  if (saved_count_ < few_.size())
    few_[saved_count_] = saved;
  else
    more_.push_back(saved);
  ++saved_count_;
}

Tracked* CheckedCall::still_there(const Saved& saved) {
  if (saved.serial == 0) return nullptr;
  Tracked* tracked = record_->find(saved.handle);
  return tracked != nullptr && tracked->live && tracked->serial == saved.serial ? tracked : nullptr;
}

// --- after the call

namespace {

bool changes_handles(const Function& function) {
  if (function.starts) return true;
  return std::any_of(function.handles.begin(), function.handles.begin() + function.handle_count,
                     [](const HandleUse& use) { return use.use != Use::kIn && use.use != Use::kInPlace; });
}

}  // namespace

CheckedCall::~CheckedCall() = default;

void CheckedCall::returned(int result) {
  if (record_ == nullptr) return;
  const bool succeeded = result == MPI_SUCCESS;
  if (!succeeded && (ledger_ != nullptr || late_) && !takes_part_anyway()) give_up();
  if (succeeded && late_) arrive(late_->call, late_->handle, late_->members);
  if (succeeded && function_.one_sided != OneSided::kNone) check_one_sided();
  if (function_.ordering != Ordering::kNone || ledger_ != nullptr) order_after(succeeded);
  if (function_.half != Half::kNone) note_split(succeeded);
  if (changes_handles(function_)) note_handles(succeeded);
  if (initialized_ && record_->rank->phase == mpi::Phase::kFinalized)
    Checker::instance()->collect_leaks(*record_);
}

void CheckedCall::note_handles(bool succeeded) {
  const std::lock_guard guard(record_->lock);
  if (!succeeded && function_.starts) {
    for (std::size_t i = 0; i < saved_count_; ++i) {
      if (Tracked* request = still_there(saved(i))) record_->end_operation(*request);
    }
  }
  for (int i = 0; i < function_.handle_count; ++i) {
    const HandleUse& use = function_.handles[static_cast<std::size_t>(i)];
    switch (use.use) {
      case Use::kIn:
      case Use::kInPlace:
        break;
      case Use::kOutLater:
        if (succeeded) record_->announce(*pointer<const void* const*>(use.argument), place());
        break;
      case Use::kFreed:
        note_freed(use, succeeded);
        break;
      case Use::kCompleted:
        note_completed(use);
        break;
      case Use::kQueried:
        if (succeeded) note_queried();
        break;
      case Use::kOut:
      case Use::kOutConstant:
        if (succeeded) note_made(use);
        break;
      case Use::kContents:
        if (succeeded) note_contents(use);
        break;
    }
  }
}

void CheckedCall::note_made(const HandleUse& use) {
  if (function_.at.flag >= 0 && *pointer<const int*>(function_.at.flag) == 0) return;  // MPI_Improbe
  const auto* handle = pointer<const void* const*>(use.argument);
  if (handle == nullptr || predefined(*handle)) return;
  Tracked& made = record_->add(*handle, use.kind, place(), use.use == Use::kOutConstant || site_.own);
  if (use.kind == HandleKind::kRequest) note_request(made);
}

void CheckedCall::note_contents(const HandleUse& use) {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = 0;
  PMPI_Type_get_envelope_c(pointer<MPI_Datatype>(0), &integers, &addresses, &counts, &types, &combiner);
  const auto* handles = pointer<const void* const*>(use.argument);
  for (MPI_Count i = 0; i < types; ++i) {
    if (!predefined(handles[i])) record_->add(handles[i], HandleKind::kType, place(), false);
  }
}

void CheckedCall::note_request(Tracked& request) {
  MPI_Comm* later = nullptr;
  for (const HandleUse& use : function_.handles) {
    if (use.use == Use::kOutLater) later = pointer<MPI_Comm*>(use.argument);
  }
  if (access_count_ == 0 && later == nullptr) return;
  request.operation = std::make_unique<Operation>();
  request.operation->accesses = std::move(accesses_);
  request.operation->count = access_count_;
  request.operation->later = later;
  const bool of_file = function_.traffic == Traffic::kFileRead || function_.traffic == Traffic::kFileWrite;
  request.operation->file = of_file ? together() : nullptr;
  request.operation->persistent = function_.lifetime == Lifetime::kPersistent;
  if (function_.lifetime == Lifetime::kNonblocking) record_->begin_operation(request);
}

void CheckedCall::note_freed(const HandleUse& use, bool succeeded) {
  Tracked* tracked = still_there(saved(0));
  if (tracked == nullptr) return;
  if (!succeeded && *handles_at(use) == saved(0).handle) return;
  // Its communicator will not be made known to anybody.
  if (tracked->operation != nullptr) tracked->operation->later = nullptr;
  record_->drop(*tracked, place());
}

void CheckedCall::note_completed(const HandleUse& use) {
  const void* const* handles = handles_at(use);
  for (std::size_t i = 0; i < saved_count_; ++i) {
    Tracked* request = still_there(saved(i));
    if (request == nullptr) continue;
    if (handles[i] != saved(i).handle) {
      record_->drop(*request, place());
    } else if (request->operation != nullptr && request->operation->persistent &&
               !static_cast<const mpi::Request*>(handles[i])->active) {
      record_->end_operation(*request);
    }
  }
}

void CheckedCall::note_queried() {
  const Places& at = function_.at;
  const int done = *pointer<const int*>(at.flag);
  const auto end = [&](std::size_t i) {
    if (Tracked* request = i < saved_count_ ? still_there(saved(i)) : nullptr)
      record_->end_operation(*request);
  };
  if (done == 0 || done == MPI_UNDEFINED) return;
  if (at.index < 0) {
    for (std::size_t i = 0; i < saved_count_; ++i) end(i);
    return;
  }
  const bool some = std::string_view(function_.name).ends_with("_some");
  const int* indices = pointer<const int*>(at.index);
  for (int i = 0; i < (some ? done : 1); ++i) {
    if (indices[i] >= 0) end(static_cast<std::size_t>(indices[i]));
  }
}

}  // namespace tmpi::check
