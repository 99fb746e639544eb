// The logs of this node process's ranks, and what a call of a rank does first: find its own.
#pragma once

#include <vector>

#include "mpi.h"
#include "replay/rank_log.hpp"

namespace tmpi::replay {

/// A rank's log while a call of the rank is noted in it, to the end of the scope; or none.
class OpenLog {
 public:
  OpenLog() = default;
  explicit OpenLog(RankLog& log) noexcept : log_(&log) { log.set_noting(true); }
  ~OpenLog() {
    if (log_ != nullptr) log_->set_noting(false);
  }
  OpenLog(const OpenLog&) = delete;
  OpenLog& operator=(const OpenLog&) = delete;
  explicit operator bool() const noexcept { return log_ != nullptr; }
  RankLog* operator->() const noexcept { return log_; }
  RankLog& operator*() const noexcept { return *log_; }

 private:
  RankLog* const log_ = nullptr;
};

/// The log of the calling rank. None if the call is not to be recorded: nobody's; or, and the log is spoilt then, one of a
/// thread that the rank has created, whose order among the others' is known to nobody, or one that a callback makes while
/// another call is being noted, whose place among the choices is not the same in the replay. Does not suspend.
OpenLog log_of_caller() noexcept;

/// Of a call that completes requests: only if there are receives that it may complete.
OpenLog log_of_completion() noexcept;

/// The calling rank's log, if it has one, does not repeat what it does, and why.
void spoil(const char* why) noexcept;

inline bool is_wild(int source, int tag) noexcept {
  return source == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && source != MPI_PROC_NULL);
}

/// The log of the caller of a receive or probe that is to be noted: with a wildcard, or any if the run is explored.
OpenLog log_of_receive(int source, int tag) noexcept;

/// Whether runs are explored. Written before any rank runs.
bool explored() noexcept;

/// Whether sends of the calling rank wait for their receives in this run. Does not suspend.
bool sends_wait() noexcept;

/// What a communicator's messages are told from others' by; 0: it is none.
std::uint64_t context_of(MPI_Comm comm) noexcept;

/// A blocking receive or probe that is to be noted, from before the library is entered.
class Receiving {
 public:
  /// `takes`: not only looks.
  Receiving(RankLog& log, ChoiceKind kind, const char* call, Envelope asked, MPI_Comm comm, bool takes,
            MPI_Status* status);
  int source() const noexcept { return wanted_.source; }
  int tag() const noexcept { return wanted_.tag; }
  MPI_Status* status() noexcept { return status_; }
  /// The library has returned `result`, which it gives back.
  int returned(int result);

 private:
  RankLog& log_;
  const ChoiceKind kind_;
  const char* const call_;
  const bool wild_;
  Envelope wanted_;
  std::uint32_t explored_ = 0;
  MPI_Status own_;  ///< where the program wants none
  MPI_Status* const status_;
};

/// Which receives with wildcards a call completes, from before the library is entered.
class Completing {
 public:
  Completing(RankLog& log, const char* call, int count, MPI_Request* requests);
  /// The library has returned.
  void returned();

 private:
  struct Open {
    int index;
    MPI_Request request;
  };
  RankLog& log_;
  const char* const call_;
  MPI_Request* const requests_;
  std::vector<Open> open_;  ///< none: nothing is allocated
};

/// Among what a room of functions has in the place of the library's.
struct Version {
  const char* name;
  const void* function;
};
template <class Function>
Version version(const char* name, Function* function) {
  return {name, reinterpret_cast<const void*>(function)};
}

const std::vector<Version>& receives();
const std::vector<Version>& completions();
const std::vector<Version>& surroundings();
const std::vector<Version>& not_recorded();
const std::vector<Version>& collectives();  ///< of runs that are explored
const std::vector<Version>& sends();        ///< of runs that are explored or replayed

}  // namespace tmpi::replay
