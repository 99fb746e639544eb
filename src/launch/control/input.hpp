// Input: the job's stdin as its ranks read it: one of them, or each of them all of it (--stdin). Bytes are asked of
// tmpirun only when a reader waits, so tmpirun never eats input that the job does not want.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tmpi::sched {
class Waiter;
}

namespace tmpi::launch {

class Input {
 public:
  /// `ask` sends a reader's request to tmpirun; called without a lock held, on the reader's thread.
  explicit Input(void (*ask)(int rank)) : ask_(ask) {}

  /// The ranks here that read; the others find the end of the file. What has come stays until all of them have read it.
  /// Before any read().
  void set_readers(const std::vector<int>& ranks);

  /// Reads up to `length` bytes; 0: end of file (a later read asks again, as a terminal wants it). SUSPENDS a
  /// rank's fiber while nothing has come; blocks a helper thread of a rank.
  ssize_t read(int rank, void* data, std::size_t length);

  /// The rank reads no more: nothing is kept for it. Any thread.
  void leave(int rank);

  /// More of it, empty at the end of file. Control thread.
  void deliver(std::string_view bytes);

 private:
  struct Reader {
    std::size_t next = 0;  // of bytes_
    int ends = 0;          // how many ends of the file it has seen
    bool gone = false;     // leave(); a thread of the rank may still be waiting
  };
  void wait(std::unique_lock<std::mutex>& lock, int rank, const Reader& reader);
  void forget_read();

  void (*ask_)(int rank);
  std::mutex mutex_;
  std::condition_variable arrived_;      // for helper threads
  std::vector<sched::Waiter*> waiters_;  // for fibers
  std::map<int, Reader> readers_;        // by rank
  std::string bytes_;
  int ends_ = 0;  // how often the end of the file has come
  bool asked_ = false;
};

}  // namespace tmpi::launch
