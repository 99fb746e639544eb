// What is pending on the file of a collective CheckedCall: the halves of split collective operations, and operations
// with requests. MPI report, 14.2.2, 14.2.4, 14.2.5, 14.3, 14.4.5 and 14.6.1.
#include <mutex>
#include <string_view>

#include "check/checked_call.hpp"
#include "check/misuse.hpp"
#include "mpi/rank/threads.hpp"

namespace tmpi::check {
namespace {

/// Of both halves of an operation the same: "MPI_File_read_all".
std::string_view operation_of(const Function& half) {
  const std::string_view name = half.name;
  return name.substr(0, name.rfind(half.half == Half::kBegin ? "_begin" : "_end"));
}

/// A collective operation beside a split one, or what wants all of them completed.
bool wants_no_split(const Function& function) {
  return function.settled || function.half == Half::kBegin || function.traffic == Traffic::kFileRead ||
         function.traffic == Traffic::kFileWrite;
}

}  // namespace

/// False if the library will refuse the call before it has anything to do with the others.
bool CheckedCall::check_pending(const void* file) const {
  Split split;
  CallPlace pending;
  {
    const std::lock_guard guard(record_->lock);
    const Tracked* tracked = record_->find(file);
    if (tracked == nullptr) return true;
    split = tracked->split;
    const Tracked* operation = function_.settled ? record_->pending.of_file(file) : nullptr;
    if (operation != nullptr) pending = operation->made;
  }
  const bool open = split.begun.function != nullptr;
  if (function_.half == Half::kEnd) {
    if (!open) report_no_split(*record_, place());
    if (operation_of(*split.begun.function) != operation_of(function_))
      report_split(*record_, place(), split.begun);
    if (split.flow != mpi::calling_flow()) report_other_thread(*record_, place(), split.begun);
    return split.buffer == pointer<const void*>(function_.at.buffer);
  }
  if (open && wants_no_split(function_)) report_split(*record_, place(), split.begun);
  if (pending.function != nullptr) report_pending(*record_, place(), pending);
  return true;
}

void CheckedCall::note_split(bool succeeded) {
  const std::lock_guard guard(record_->lock);
  Tracked* file = record_->find(together());
  if (file == nullptr || !file->live) return;
  const auto* buffer = pointer<const void*>(function_.at.buffer);
  if (function_.half == Half::kBegin && succeeded) file->split = {place(), buffer, mpi::calling_flow()};
  // Also if it tells of an error: the operation has ended.
  if (function_.half == Half::kEnd && file->split.buffer == buffer) file->split = {};
}

}  // namespace tmpi::check
