// State: what one rank does with the tools interface: how often it has initialized it, its sessions and handles.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/tool/controls.hpp"
#include "mpi/tool/session.hpp"

namespace tmpi::mpi::tool {

/// A control variable, bound to a communicator if it is a choice. Keeps the communicator, freed or not.
class CvarHandle {
 public:
  CvarHandle(const Control& control, Comm* comm) noexcept : control_(control), comm_(comm) {
    if (comm_ != nullptr) ++comm_->references;
  }
  ~CvarHandle() {
    if (comm_ != nullptr) release(*comm_);
  }
  CvarHandle(const CvarHandle&) = delete;

  const Control& control() const noexcept { return control_; }
  /// Null: it is bound to none.
  Comm* comm() const noexcept { return comm_; }
  /// What it is bound to is no more: MPI_COMM_WORLD after MPI_Finalize.
  bool lost() const noexcept { return comm_ != nullptr && comm_->shared == nullptr; }

 private:
  const Control& control_;
  Comm* const comm_;
};

class State {
 public:
  /// Held around everything below; not across a scheduling point.
  SpinLock& lock() noexcept { return lock_; }

  bool initialized() const noexcept { return uses_.load(std::memory_order_acquire) > 0; }
  void initialize() noexcept { uses_.fetch_add(1, std::memory_order_release); }
  /// With the last use all sessions and handles go.
  void finalize() noexcept;

  PvarSession& create_session() { return *sessions_.emplace_back(std::make_unique<PvarSession>()); }
  PvarSession* find_session(MPI_T_pvar_session handle) const noexcept;
  void free_session(const PvarSession& session) noexcept;
  const std::vector<std::unique_ptr<PvarSession>>& sessions() const noexcept { return sessions_; }

  CvarHandle& create_handle(const Control& control, Comm* comm) {
    return *handles_.emplace_back(std::make_unique<CvarHandle>(control, comm));
  }
  CvarHandle* find_handle(MPI_T_cvar_handle handle) const noexcept;
  void free_handle(const CvarHandle& handle) noexcept;

 private:
  SpinLock lock_;
  std::atomic<int> uses_{0};  // changed under the lock
  std::vector<std::unique_ptr<PvarSession>> sessions_;
  std::vector<std::unique_ptr<CvarHandle>> handles_;
};

/// The handle among those of a session; null: none.
PvarHandle* find_handle(const PvarSession& session, MPI_T_pvar_handle handle) noexcept;

}  // namespace tmpi::mpi::tool
