// Misuse: an error of the program, found under --check. Puts it into a sentence and ends the job. Cold.
#pragma once

#include <string>

#include "check/handles.hpp"

namespace tmpi::check {

/// What is wrong with a handle that a call has been given. `argument`: "the communicator", "request 3".
struct BadHandle {
  const void* handle;
  HandleKind kind;
  int index;  ///< in the array of handles, -1: it is none
};

[[noreturn]] void report_coming(const RankRecord& rank, CallPlace call, BadHandle bad, CallPlace made);
[[noreturn]] void report_freed(const RankRecord& rank, CallPlace call, BadHandle bad, CallPlace made,
                               CallPlace freed);
[[noreturn]] void report_unknown(const RankRecord& rank, CallPlace call, BadHandle bad);
/// It is an object of another kind.
[[noreturn]] void report_other_kind(const RankRecord& rank, CallPlace call, BadHandle bad, HandleKind is,
                                    CallPlace made);
/// `access` is the call's, `other` that of an operation that is pending, or of the same call.
[[noreturn]] void report_overlap(const RankRecord& rank, CallPlace call, Access access, CallPlace pending,
                                 Access other);
/// Both are of one collective call.
[[noreturn]] void report_aliased(const RankRecord& rank, CallPlace call, const Access& sent,
                                 const Access& received);
/// What a member sends to itself in a collective call, and what it expects of itself.
struct OwnChunk {
  MPI_Count bytes;
  const mpi::Datatype* type;
};
[[noreturn]] void report_own_chunk(const RankRecord& rank, CallPlace call, OwnChunk sent, OwnChunk expected);
/// `handle`: what the collective is on, and `made` where it was made.
[[noreturn]] void report_mismatch(const RankRecord& rank, CallPlace call, const CollectiveCall& here,
                                  const CollectiveCall& there, std::uint64_t sequence, const void* handle,
                                  CallPlace made);
/// The call comes between the halves of a split collective operation.
[[noreturn]] void report_split(const RankRecord& rank, CallPlace call, CallPlace begun);
/// A second half without a first.
[[noreturn]] void report_no_split(const RankRecord& rank, CallPlace call);
/// The first half was called by another thread of the rank (MPI report, 14.4.5).
[[noreturn]] void report_other_thread(const RankRecord& rank, CallPlace call, CallPlace begun);
/// The call wants all operations on its file completed.
[[noreturn]] void report_pending(const RankRecord& rank, CallPlace call, CallPlace pending);

}  // namespace tmpi::check
