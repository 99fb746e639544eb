// AttachPort: the port on which node processes that somebody else has started report for the job. Whoever
// connects proves that it knows the job's secret and says which node process it is; everybody else is
// refused. One thread; gather() blocks.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.hpp"
#include "launch/attach/attach_target.hpp"

namespace tmpi::launch {

class AttachPort {
 public:
  /// Opens a port of the system's choice on all interfaces, and draws job number and secret.
  static Result<AttachPort> open();
  AttachPort(AttachPort&& other) noexcept;
  AttachPort& operator=(AttachPort&&) = delete;
  ~AttachPort();

  /// What the node processes must be told.
  const AttachTarget& target() const { return target_; }

  enum class Outcome {
    kComplete,  ///< all are there
    kStopped,   ///< `stop` became readable first
    kLate,
  };
  /// Waits until node processes first, first + 1, ... have connected; channels[i] becomes the socket of node
  /// process i, closed on exec; it is -1 while it is missing. channels[i] with i < first stay as they are.
  /// `stop`: a descriptor, -1 for none. `seconds`: 0 for no limit.
  Outcome gather(std::vector<int>& channels, std::size_t first, int stop, double seconds) const;

 private:
  AttachPort(int fd, AttachTarget target) : fd_(fd), target_(std::move(target)) {}
  int fd_;
  AttachTarget target_;
};

}  // namespace tmpi::launch
