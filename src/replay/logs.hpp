// The logs of this node process's ranks, and what a call of a rank does first: find its own.
#pragma once

#include <vector>

#include "mpi.h"
#include "replay/rank_log.hpp"

namespace tmpi::replay {

/// The log of the calling rank; null if the call is not to be recorded: nobody's, or one of a thread that the rank has
/// created, whose order among the others' is known to nobody (the log is spoilt then). Does not suspend.
RankLog* log_of_caller() noexcept;

/// The calling rank's log, if it has one, does not repeat what it does, and why.
void spoil(const char* why) noexcept;

inline bool is_wild(int source, int tag) noexcept {
  return source == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && source != MPI_PROC_NULL);
}

/// The log of the caller of a receive or probe that is to be noted: with a wildcard, or any if the run is explored.
RankLog* log_of_receive(int source, int tag) noexcept;

/// Whether runs are explored. Written before any rank runs.
bool explored() noexcept;

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
  std::uint32_t traced_ = 0;
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

}  // namespace tmpi::replay
