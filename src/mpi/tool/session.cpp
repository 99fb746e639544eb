#include "mpi/tool/session.hpp"

#include <algorithm>

#include "mpi/tool/activity.hpp"
#include "mpi/tool/state.hpp"

namespace tmpi::mpi::tool {

PvarHandle::PvarHandle(PvarSession& session, const Variable& variable, Rank& rank, const Comm* comm)
    : session_(session), variable_(variable), rank_(rank) {
  if (comm != nullptr) traffic_ = std::make_unique<CommTraffic>(rank, *comm);
  const auto count = static_cast<std::size_t>(count_of(variable, {rank, traffic_.get()}));
  kept_.resize(count);
  now_.resize(count);
  if (variable.sums()) base_.resize(count);
  // Other switches are not undone: whoever has asked once is likely to ask again.
  if (variable.needs == Needs::kSwitches) account_switches_of(rank);
}

PvarHandle::~PvarHandle() {
  if (running_) release();
}

void PvarHandle::demand() {
  if (variable_.needs == Needs::kMessages) count_messages();
}
void PvarHandle::release() noexcept {
  if (variable_.needs == Needs::kMessages) discount_messages();
}

void PvarHandle::read_now() {
  variable_.read({rank_, traffic_.get()}, now_);
}

// All handles of the rank share one mark: what it has shown so far is kept for the others.
void PvarHandle::restart_mark() {
  for (const auto& session : rank_.tools.load(std::memory_order_acquire)->sessions()) {
    for (const auto& handle : session->handles()) {
      if (&handle->variable_ == &variable_ && handle->running_) handle->keep_mark();
    }
  }
  variable_.restart(rank_);
}

void PvarHandle::keep_mark() {
  read_now();
  kept_[0] = std::max(kept_[0], now_[0]);
}

void PvarHandle::begin_again() {
  if (variable_.sums()) {
    read_now();
    base_ = now_;
  } else {
    restart_mark();
    read_now();
    kept_ = now_;
  }
}

void PvarHandle::start() {
  if (running_) return;
  demand();
  begin_again();
  running_ = true;
}

void PvarHandle::stop() {
  if (!running_) return;
  read_now();
  if (variable_.sums()) {
    for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i] += now_[i] - base_[i];
  } else {
    kept_[0] = std::max(kept_[0], now_[0]);
  }
  running_ = false;
  release();
}

void PvarHandle::read(void* buffer) {
  if (variable_.continuous()) {
    read_now();
    return store(variable_, now_, buffer);
  }
  if (!running_) return store(variable_, kept_, buffer);
  read_now();
  for (std::size_t i = 0; i < kept_.size(); ++i)
    now_[i] = variable_.sums() ? kept_[i] + (now_[i] - base_[i]) : std::max(kept_[i], now_[i]);
  store(variable_, now_, buffer);
}

void PvarHandle::write(const void* buffer) {
  if (running_) begin_again();
  load(variable_, buffer, kept_);
}

void PvarHandle::reset() {
  std::ranges::fill(kept_, 0);
  if (running_) {
    begin_again();
  } else if (!variable_.sums()) {
    restart_mark();
    keep_mark();
  }
}

void PvarHandle::read_and_reset(void* buffer) {
  read(buffer);
  if (!running_ || !variable_.sums()) return reset();
  // read() leaves what it has shown: from there on it counts.
  for (std::size_t i = 0; i < kept_.size(); ++i) base_[i] += now_[i] - kept_[i];
  std::ranges::fill(kept_, 0);
}

void PvarSession::free(const PvarHandle& handle) noexcept {
  std::erase_if(handles_, [&](const auto& each) { return each.get() == &handle; });
}

}  // namespace tmpi::mpi::tool
