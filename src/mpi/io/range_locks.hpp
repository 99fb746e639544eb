// RangeLocks: which bytes of a file somebody in this node process is at, so that what reads, changes and writes
// back more than its own bytes (data sieving), and what is to be atomic, keeps the others away meanwhile. One for
// each file (device and inode), whichever handles it was opened by. First come, first served; who waits is
// suspended. docs/design/files.md.
#pragma once

#include <sys/stat.h>

#include <memory>

#include "base/spinlock.hpp"
#include "mpi.h"
#include "sched/offload.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {

class RangeLocks {
 public:
  enum class Mode : bool { kShared, kExclusive };

  /// Bytes [begin, end) belong to the calling flow of control, in exclusive mode alone, while one of these lives.
  /// No flow of control has two at a time. The constructor SUSPENDS.
  class Held {
   public:
    Held(RangeLocks& locks, MPI_Offset begin, MPI_Offset end, Mode mode);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    friend class RangeLocks;
    bool conflicts_with(const Held& other) const noexcept {
      return begin_ < other.end_ && other.begin_ < end_ &&
             (mode_ == Mode::kExclusive || other.mode_ == Mode::kExclusive);
    }
    RangeLocks& locks_;
    const MPI_Offset begin_, end_;
    const Mode mode_;
    Held* next_ = nullptr;  // in the order of coming
    Held* next_free_ = nullptr;
    int before_ = 0;  // conflicting ones that came earlier and are still there
    sched::Waiter* waiter_ = nullptr;
  };

  /// Of those who write on other threads, where one at a time can: see NodeFile::write().
  sched::Strand& writers() noexcept { return writers_; }

  /// Those of the file behind `status`, made if nobody has them; they last as long as somebody holds them.
  static std::shared_ptr<RangeLocks> of(const struct stat& status);

 private:
  SpinLock lock_;
  Held* first_ = nullptr;
  Held* last_ = nullptr;
  sched::Strand writers_;
};

}  // namespace tmpi::mpi
