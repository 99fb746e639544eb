// New context ids (comm/context.hpp).
#pragma once

#include <utility>
#include <vector>

#include "mpi/comm/context.hpp"

namespace tmpi::mpi {

/// A context id that nobody else in the job has: any rank's, any thread. Does not suspend.
ContextId new_context() noexcept;

/// Numbers of contexts that ranks of this process have used so far; and as if so many had been.
std::uint64_t contexts_made() noexcept;
void skip_contexts(std::uint64_t made) noexcept;

/// Ids first, first + 1, ... that this process has set aside for communicators that several processes make
/// alike.
struct ContextBlock {
  ContextId first = 0;
  int count = 0;
};
/// `between_jobs`: for communicators with ranks of several jobs. Any rank's, any thread. Does not suspend.
ContextBlock reserve_contexts(int count, bool between_jobs = false) noexcept;

/// Where the makers of communicators take their ids from: this process's own numbers, or blocks that all
/// processes concerned know, so that the i-th communicator has the same id everywhere.
class ContextSource {
 public:
  ContextSource() = default;
  explicit ContextSource(std::vector<ContextBlock> blocks) : agreed_(true), blocks_(std::move(blocks)) {}
  ContextId next() noexcept;

 private:
  const bool agreed_ = false;
  std::vector<ContextBlock> blocks_;
  std::size_t block_ = 0;
  int used_ = 0;
};

}  // namespace tmpi::mpi
