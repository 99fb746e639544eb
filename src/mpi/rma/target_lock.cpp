#include "mpi/rma/target_lock.hpp"

#include <mutex>

namespace tmpi::mpi {

bool TargetLock::acquire(Applicant& applicant) noexcept {
  const std::scoped_lock guard(lock_);
  // Behind those that wait, even if it could be shared with the holder: else a stream of readers keeps writers out.
  if (first_ == nullptr && admits(applicant.exclusive)) {
    admit(applicant);
    return true;
  }
  applicant.behind = nullptr;
  (first_ != nullptr ? last_->behind : first_) = &applicant;
  last_ = &applicant;
  return false;
}

TargetLock::Applicant* TargetLock::release(bool exclusive) noexcept {
  const std::scoped_lock guard(lock_);
  holders_ = exclusive ? 0 : holders_ - 1;
  if (holders_ == 0) holder_ = -1;
  Applicant* const granted = first_;
  Applicant* last = nullptr;
  while (first_ != nullptr && admits(first_->exclusive)) {
    admit(*first_);
    last = first_;
    first_ = first_->behind;
  }
  if (last == nullptr) return nullptr;
  last->behind = nullptr;
  return granted;
}

}  // namespace tmpi::mpi
