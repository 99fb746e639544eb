// Continuation: what goes on when something is over, where no flow of control waits for that: part of a
// bigger request, a nonblocking collective.
#pragma once

namespace tmpi::mpi {

class Continuation {
 public:
  /// What was waited for is over. Called once by whoever finds that, on that thread, under no lock; the
  /// continuation may be gone when it returns. Does not suspend.
  virtual void proceed() noexcept = 0;

 protected:
  ~Continuation() = default;
};

}  // namespace tmpi::mpi
