#include "mpi/io/range_locks.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace tmpi::mpi {

// Whoever has come earlier and conflicts is counted, and counts itself down when it goes. The list is short: one
// entry for each operation that is under way.
RangeLocks::Held::Held(RangeLocks& locks, MPI_Offset begin, MPI_Offset end, Mode mode)
    : locks_(locks), begin_(begin), end_(end), mode_(mode) {
  sched::Waiter waiter(1);
  {
    const std::lock_guard guard(locks_.lock_);
    for (const Held* other = locks_.first_; other != nullptr; other = other->next_)
      before_ += other->conflicts_with(*this);
    (locks_.last_ != nullptr ? locks_.last_->next_ : locks_.first_) = this;
    locks_.last_ = this;
    if (before_ == 0) waiter.complete();
    waiter_ = &waiter;
  }
  waiter.wait();
}

RangeLocks::Held::~Held() {
  Held* free = nullptr;  // those whose last conflict this was, to be woken without the lock
  {
    const std::lock_guard guard(locks_.lock_);
    Held* before = nullptr;
    for (Held** link = &locks_.first_; *link != this; link = &(*link)->next_) before = *link;
    (before != nullptr ? before->next_ : locks_.first_) = next_;
    if (locks_.last_ == this) locks_.last_ = before;
    for (Held* later = next_; later != nullptr; later = later->next_) {
      if (later->conflicts_with(*this) && --later->before_ == 0)
        later->next_free_ = std::exchange(free, later);
    }
  }
  // Who is woken may take it away.
  while (free != nullptr) std::exchange(free, free->next_free_)->waiter_->complete();
}

std::shared_ptr<RangeLocks> RangeLocks::of(const struct stat& status) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::pair<dev_t, ino_t>, std::weak_ptr<RangeLocks>>;
  const std::lock_guard guard(mutex);
  std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<RangeLocks>& known = all[{status.st_dev, status.st_ino}];
  std::shared_ptr<RangeLocks> locks = known.lock();
  if (locks == nullptr) known = locks = std::make_shared<RangeLocks>();
  return locks;
}

}  // namespace tmpi::mpi
