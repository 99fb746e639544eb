// Input: the job's stdin as rank 0 reads it. Bytes are asked of tmpirun only when a reader waits, so tmpirun
// never eats input that the job does not want.
#pragma once

#include <sys/types.h>

#include <condition_variable>
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
  /// `ask` sends the request to tmpirun; called without a lock held, on the reader's thread.
  explicit Input(void (*ask)()) : ask_(ask) {}

  /// Reads up to `length` bytes; 0: end of file (a later read asks again, as a terminal wants it). SUSPENDS a
  /// rank's fiber while nothing has come; blocks a helper thread of a rank.
  ssize_t read(void* data, std::size_t length);

  /// The answer to a request, empty at the end of file. Control thread.
  void deliver(std::string_view bytes);

 private:
  void wait(std::unique_lock<std::mutex>& lock);

  void (*ask_)();
  std::mutex mutex_;
  std::condition_variable arrived_;      // for helper threads
  std::vector<sched::Waiter*> waiters_;  // for fibers
  std::string bytes_;
  std::size_t begin_ = 0;
  bool asked_ = false;
  bool end_of_file_ = false;  // the latest answer was empty and no reader has seen it
};

}  // namespace tmpi::launch
