// Sessions and handles of performance variables (MPI report, 15.3.7). Each handle shows a variable from its own
// beginning: others start, stop and reset theirs without it noticing. Belongs to one rank; used under its State's lock.
#pragma once

#include <memory>
#include <vector>

#include "mpi/tool/traffic.hpp"
#include "mpi/tool/variables.hpp"

namespace tmpi::mpi::tool {

class PvarSession;

class PvarHandle {
 public:
  /// `comm`: of a variable that is bound to a communicator. May allocate.
  PvarHandle(PvarSession& session, const Variable& variable, Rank& rank, const Comm* comm);
  ~PvarHandle();
  PvarHandle(const PvarHandle&) = delete;

  const Variable& variable() const noexcept { return variable_; }
  PvarSession& session() const noexcept { return session_; }
  int count() const noexcept { return static_cast<int>(kept_.size()); }
  bool running() const noexcept { return running_; }

  // None of these checks whether the variable allows it.
  void start();
  void stop();
  void read(void* buffer);
  void write(const void* buffer);
  void reset();
  /// Both, with nothing in between that is neither read nor counted from then on.
  void read_and_reset(void* buffer);

  /// The mark is about to begin anew for another handle.
  void keep_mark();

 private:
  void read_now();
  void restart_mark();
  void begin_again();
  void demand();
  void release() noexcept;

  PvarSession& session_;
  const Variable& variable_;
  Rank& rank_;
  std::unique_ptr<CommTraffic> traffic_;
  // Of sums: what the variable showed when the handle was started; what it has come to before. Of a mark: the highest
  // so far, in kept_.
  std::vector<std::uint64_t> base_, kept_, now_;
  bool running_ = false;
};

class PvarSession {
 public:
  PvarHandle& allocate(const Variable& variable, Rank& rank, const Comm* comm) {
    return *handles_.emplace_back(std::make_unique<PvarHandle>(*this, variable, rank, comm));
  }
  void free(const PvarHandle& handle) noexcept;
  const std::vector<std::unique_ptr<PvarHandle>>& handles() const noexcept { return handles_; }

 private:
  std::vector<std::unique_ptr<PvarHandle>> handles_;
};

}  // namespace tmpi::mpi::tool
