// NodeFile: a file as one collective open has opened it, for all members of its communicator in this node
// process. Decides on which thread a system call is made: what takes no longer than a hand-over to another thread is
// made where it is, the rest suspends the rank, not its worker. docs/design/files.md.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/comm/node_map.hpp"
#include "mpi/io/range_locks.hpp"
#include "mpi/io/raw_io.hpp"
#include "mpi/io/staging.hpp"
#include "mpi/io/striping.hpp"
#include "sched/offload.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi {

class NodeFile {
 public:
  /// Takes over the descriptor. `writable`, `readable`: what it was opened for.
  NodeFile(int fd, std::string path, const struct stat& status, bool readable, bool writable);
  ~NodeFile();
  NodeFile(const NodeFile&) = delete;
  NodeFile& operator=(const NodeFile&) = delete;

  int fd() const noexcept { return fd_; }
  const std::string& path() const noexcept { return path_; }
  bool readable() const noexcept { return readable_; }
  bool writable() const noexcept { return writable_; }
  RangeLocks& locks() noexcept { return *locks_; }
  StagingPool& staging() noexcept { return staging_; }
  /// How the file lies on its devices. SUSPENDS if the file system can tell.
  Striping striping();

  /// Makes system calls that take their time. `call` must not throw. SUSPENDS unless the rank is alone on its worker.
  template <class Call>
  void run(Call&& call) {
    if (stays()) {
      call();
    } else {
      sched::offload(call);
    }
  }

  /// write_pieces(), of `bytes` bytes. SUSPENDS if it is worth it.
  IoResult write(std::span<const Piece> pieces, MPI_Count bytes);
  /// Makes several system calls that move `bytes` bytes and write some. SUSPENDS if it is worth it.
  template <class Call>
  void change(MPI_Count bytes, Call&& call) {
    write(bytes, call, [&](sched::Strand* writers) { sched::offload(call, writers); });
  }

  /// read_pieces(): what is in the page cache is copied here, the rest elsewhere. SUSPENDS if it is worth it.
  IoResult read(std::span<const Piece> pieces, MPI_Count bytes);
  /// fsync(); its errno. SUSPENDS unless the rank is alone on its worker.
  int sync();

  // The shared file pointer; where rank 0 of the communicator is.
  std::atomic<MPI_Offset> shared_position{0};  ///< in etypes; seq_cst
  // The same for all members; written once, when the file is opened.
  std::unique_ptr<const NodeMap> map;  ///< of the file's communicator
  std::vector<int> workers;            ///< of each member, on its node

 private:
  static constexpr double kTooLong = 1e-3;  // s: then it was more than a copy
  static constexpr int kPatience = 64;      // calls on other threads before the next attempt

  enum class Where : std::uint8_t {
    kMeasured,  ///< on this thread, unless it has taken too long of late
    kHere,      ///< on this thread
    kElsewhere
  };
  Where place_for(MPI_Count bytes) noexcept;
  bool quick() noexcept;
  /// Here, or elsewhere; `elsewhere` is told if it has to be one writer after another.
  template <class Here, class Elsewhere>
  void write(MPI_Count bytes, Here&& here, Elsewhere&& elsewhere) {
    const Where where = place_for(bytes);
    if (where == Where::kMeasured) {
      measured(here);
    } else if (where == Where::kHere) {
      here();
    } else {
      elsewhere(one_writer_ ? &locks_->writers() : nullptr);
    }
  }
  template <class Call>
  void measured(Call&& call) {
    const std::uint64_t start = timers::now_ticks();
    call();
    if (timers::seconds(timers::now_ticks() - start) > kTooLong)
      slow_.store(kPatience, std::memory_order_relaxed);
  }
  /// A nonblocking operation, on a helper fiber, which is to go on beside its rank.
  static bool beside() noexcept;
  /// Nobody would run on the worker meanwhile.
  static bool stays() noexcept;

  const int fd_;
  const std::string path_;
  const bool readable_, writable_;
  const bool in_memory_;      // a file system of memory: a call is a copy, which needs a core anyway
  const bool one_writer_;     // the file system lets nobody write to a file while another one does
  std::atomic<int> slow_{0};  // small calls that are still to be made elsewhere; relaxed, a guess
  std::shared_ptr<RangeLocks> locks_;
  StagingPool staging_;
};

}  // namespace tmpi::mpi
