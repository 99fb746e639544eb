// Nonblocking and persistent collectives: the blocking algorithms on a service. The schedule of an operation
// is the algorithm's own code, suspended where it waits, so every row of the selection table is a nonblocking
// algorithm too. It begins during the call that starts it and goes on whenever a task of the rank's worker
// reaches a scheduling point; its rank need not call MPI. Rows of shared memory need no service where they
// have nothing to wait for, or can leave a guest behind (algorithms.hpp). docs/nonblocking.md.
#pragma once

#include <memory>
#include <string>

#include "mpi/coll/args.hpp"
#include "mpi/request/extension.hpp"
#include "mpi/shm/track.hpp"

namespace tmpi::mpi {

/// Starts the collective; `request` completes with it. `name` is that of the MPI call, for error messages.
/// Errors found later come out at the wait. Holds the datatypes and the operator; arrays of counts,
/// displacements and types stay the user's. Arguments have been checked; all members call alike, in the same
/// order. Does not suspend.
Err start_collective(const char* name, Comm& comm, const Args& args, MPI_Request* request);

/// The same as an inactive persistent request.
Err init_collective(const char* name, Comm& comm, const Args& args, MPI_Request* request);

/// An operation on a track: whatever all members of a communicator do together without waiting for it.
/// Derived classes say what.
class TrackOperation : public RequestExtension {
 public:
  /// `name`: of the MPI call; a literal.
  TrackOperation(const char* name, Track& track) noexcept : name_(name), track_(track) {}

  Err start(Request& request) override;
  Err outcome(Request& request, MPI_Status* status) override;
  Err cancel(Request& request) override;

 protected:
  /// Does it, as a blocking call on `comm`, which stands for the communicator. On a service. May SUSPEND.
  virtual Err perform(Comm& comm) = 0;

  enum class Begun { kNot, kDone, kGuest };
  /// Does what can be done without waiting, on the calling rank's flow. kNot: nothing; it will be performed.
  /// kDone: all, with `error`. kGuest: a guest has been left behind, from which finish() is called when it is
  /// over. Must not suspend.
  virtual Begun begin(Comm& comm, Err& error) {
    (void)comm, (void)error;
    return Begun::kNot;
  }
  /// Ends what a guest has been left behind for, with an error class (MPI_SUCCESS: none) and its explanation.
  void finish(int error, const char* explanation);
  Track& track() const noexcept { return track_; }

 private:
  static void serve(void* track) noexcept;
  void remember(Err error);
  Err enqueue(Request& request);

  const char* const name_;
  Track& track_;
  Request* request_ = nullptr;
  TrackOperation* next_ = nullptr;  // on the track
  int error_ = MPI_SUCCESS;
  std::string explanation_;
};

/// Waits until no operation of the rank is under way (MPI_Finalize). SUSPENDS.
void finish_operations(Rank& rank) noexcept;

}  // namespace tmpi::mpi
