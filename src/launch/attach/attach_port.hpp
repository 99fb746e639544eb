// AttachPort: the port on which node processes that somebody else has started report for the job. Whoever connects
// says which node process it is, proves that it has the key pair behind the public key that the starter has brought
// from that one, and gets the job's key, sealed; everybody else is refused (net/listener.hpp). One thread; gather() blocks.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "launch/attach/attach_target.hpp"
#include "launch/attach/node_keys.hpp"

namespace tmpi::launch {

class AttachPort {
 public:
  /// From where node processes connect: only from where this process runs itself, or from other machines, too.
  enum class Reach : unsigned char { kThisMachine, kAnywhere };

  /// Opens a port of the system's choice, on the loopback interface or on all, and draws its key pair and the job's
  /// key.
  static Result<AttachPort> open(Reach reach);

  AttachPort(AttachPort&& other) noexcept;
  ~AttachPort();

  /// What the node processes must be told.
  const AttachTarget& target() const;
  const net::JobKey& key() const;

  enum class Outcome {
    kComplete,  ///< all are there
    kStopped,   ///< `stop` became readable first
    kLate,
  };
  /// Waits until node processes first, first + 1, ... have connected; channels[i] becomes the socket of node
  /// process i, closed on exec; there is none while it is missing. channels[i] with i < first stay as they are.
  /// `stop`: a descriptor, -1 for none. `seconds`: 0 for no limit.
  Outcome gather(std::vector<Fd>& channels, std::size_t first, NodeKeys& keys, int stop,
                 double seconds) const;

 private:
  class Waiting;
  explicit AttachPort(std::unique_ptr<Waiting> waiting);
  std::unique_ptr<Waiting> waiting_;
};

}  // namespace tmpi::launch
