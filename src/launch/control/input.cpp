#include "launch/control/input.hpp"

#include <algorithm>
#include <cstring>

#include "sched/thread_task.hpp"
#include "sched/waiter.hpp"

namespace tmpi::launch {

ssize_t Input::read(void* data, std::size_t length) {
  if (length == 0) return 0;
  std::unique_lock lock(mutex_);
  while (begin_ == bytes_.size()) {
    if (end_of_file_) {
      end_of_file_ = false;
      return 0;
    }
    wait(lock);
  }
  const std::size_t count = std::min(length, bytes_.size() - begin_);
  std::memcpy(data, bytes_.data() + begin_, count);
  begin_ += count;
  return static_cast<ssize_t>(count);
}

void Input::wait(std::unique_lock<std::mutex>& lock) {
  const bool ask = !asked_;
  asked_ = true;
  if (!sched::current()) {
    if (ask) {
      lock.unlock();
      ask_();
      lock.lock();
    }
    arrived_.wait(lock, [&] { return begin_ != bytes_.size() || end_of_file_ || !asked_; });
    return;
  }
  sched::Waiter waiter(1);
  waiters_.push_back(&waiter);
  lock.unlock();
  if (ask) ask_();
  {
    const sched::Inside inside(sched::current());  // read(2) is user code
    waiter.wait();
  }
  lock.lock();
}

void Input::deliver(std::string_view bytes) {
  std::vector<sched::Waiter*> waiters;
  {
    const std::lock_guard lock(mutex_);
    bytes_.erase(0, begin_);
    begin_ = 0;
    bytes_.append(bytes);
    end_of_file_ = bytes.empty();
    asked_ = false;
    waiters.swap(waiters_);
  }
  arrived_.notify_all();
  for (sched::Waiter* waiter : waiters) waiter->complete();
}

}  // namespace tmpi::launch
