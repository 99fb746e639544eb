// FileRing: a worker's way to have the kernel make system calls on files (io_uring, by liburing): calls are put into one
// ring, what has become of them is found in another. One per worker; used inside of it only, but for the descriptors.
// liburing.so.2 is loaded with the first ring.
#pragma once

#include <memory>

#include "sched/file_calls.hpp"
#include "sched/machine/topology.hpp"

namespace tmpi::sched {

class Waiter;

class FileRing {
 public:
  /// Where the answer to a call is left.
  struct Answer {
    Waiter* waiter;
    int result = 0;  ///< as the call returns it; an errno is negative
  };

  /// For the calling thread, the worker's own. Null: library, kernel or a limit refuse; why_no_ring() says why.
  static std::unique_ptr<FileRing> make() noexcept;
  ~FileRing();
  FileRing(const FileRing&) = delete;
  FileRing& operator=(const FileRing&) = delete;

  /// Gives the kernel the call, whose vectors stay where they are until it is answered. False: it takes none now, or
  /// none any more. One system call, which does not wait.
  bool give(const FileCall& call, Answer& answer) noexcept;
  /// Takes in the answers that are there, and wakes who waits for them: no system call.
  void take_answers() noexcept;
  /// Calls that have not been answered.
  int under_way() const noexcept { return under_way_; }

  /// Readable when answers have come since it was read.
  int answered() const noexcept { return answered_; }
  /// An event descriptor for the worker itself: by which it is woken while it waits for answers.
  int event() const noexcept { return event_; }

 private:
  struct Rings;
  FileRing();
  bool open() noexcept;
  bool submit() noexcept;

  std::unique_ptr<Rings> rings_;
  Affinity pinned_;                           // the worker's
  std::shared_ptr<const Affinity> unpinned_;  // the job's; null: unknown
  int answered_ = -1;
  int event_ = -1;
  int under_way_ = 0;
  bool broken_ = false;  // the kernel has not taken what it was given
};

}  // namespace tmpi::sched
