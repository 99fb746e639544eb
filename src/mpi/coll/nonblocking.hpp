// Nonblocking and persistent collectives: the blocking algorithms on a helper fiber. The schedule of an
// operation is the algorithm's own code, suspended where it waits, so every algorithm of the selection table
// is a nonblocking one too. It begins during the call that starts it and goes on whenever a task of the
// rank's worker reaches a scheduling point; its rank need not call MPI. Algorithms in shared memory need no
// helper fiber where they have nothing to wait for, or can leave a continuation behind (steps.hpp).
// docs/design/nonblocking.md.
#pragma once

#include <memory>
#include <string>

#include "mpi/coll/algorithm.hpp"
#include "mpi/request/extension.hpp"
#include "mpi/shm/shadow_comm.hpp"

namespace tmpi::mpi {

/// Starts the collective; `request` completes with it. `name` is that of the MPI call, for error messages.
/// Errors found later come out at the wait. Holds the datatypes and the operator, and copies the arrays of
/// counts, displacements and types. Arguments have been checked; all members call alike, in the same
/// order. Does not suspend.
Err start_collective(const char* name, Comm& comm, const Args& args, MPI_Request* request);

/// The same as an inactive persistent request.
Err init_collective(const char* name, Comm& comm, const Args& args, MPI_Request* request);

/// An operation on a shadow communicator: whatever all members of a communicator do together without waiting
/// for it. Derived classes say what.
class ShadowOperation : public RequestExtension {
 public:
  /// `name`: of the MPI call; a literal.
  ShadowOperation(const char* name, ShadowComm& shadow) noexcept : name_(name), shadow_(shadow) {}

  Err start(Request& request) override;
  Err outcome(Request& request, MPI_Status* status) override;
  Err cancel(Request& request) override;
  const char* call() const noexcept override { return name_; }

 protected:
  /// Does it, as a blocking call on `comm`, which stands for the communicator. On a helper fiber. May
  /// SUSPEND.
  virtual Err perform(Comm& comm) = 0;

  /// perform() calls functions of the user's: those run where the thread-locals of their rank are.
  virtual bool calls_user() const noexcept { return true; }
  /// Does what can be done without waiting, on the calling rank's flow of control. kNot: nothing; it will be
  /// performed. kDone: all. kPending: a continuation has been left behind, which calls end(). Must not
  /// suspend.
  virtual Started begin([[maybe_unused]] Comm& comm) { return Started::kNot; }
  /// Ends an operation that was kPending.
  void end() noexcept;
  /// The operation's error class (MPI_SUCCESS: none) and its explanation, a literal; before begin() returns
  /// kDone, or end().
  void set_error(int error_class, const char* explanation) noexcept;
  Comm& comm() const noexcept { return shadow_.comm; }

 private:
  static void run_all(void* shadow) noexcept;
  void remember(Err error);
  Err enqueue(Request& request);

  const char* const name_;
  ShadowComm& shadow_;
  Request* request_ = nullptr;
  ShadowOperation* next_ = nullptr;  // on the shadow
  int error_ = MPI_SUCCESS;
  const char* literal_ = nullptr;  // the explanation if not null, else:
  std::string explanation_;
};

/// Waits until no operation of the rank is under way (MPI_Finalize). SUSPENDS.
void finish_operations(Rank& rank) noexcept;

}  // namespace tmpi::mpi
