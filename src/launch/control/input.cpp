#include "launch/control/input.hpp"

#include <algorithm>
#include <cstring>

#include "sched/thread_task.hpp"
#include "sched/waiter.hpp"

namespace tmpi::launch {

void Input::set_readers(const std::vector<int>& ranks) {
  const std::lock_guard lock(mutex_);
  for (const int rank : ranks) readers_[rank];
}

ssize_t Input::read(int rank, void* data, std::size_t length) {
  if (length == 0) return 0;
  std::unique_lock lock(mutex_);
  const auto found = readers_.find(rank);
  if (found == readers_.end()) return 0;
  Reader& reader = found->second;
  while (reader.gone || reader.next == bytes_.size()) {
    if (reader.gone) return 0;
    if (reader.ends != ends_) {
      reader.ends = ends_;
      return 0;
    }
    wait(lock, rank, reader);
  }
  const std::size_t count = std::min(length, bytes_.size() - reader.next);
  std::memcpy(data, bytes_.data() + reader.next, count);
  reader.next += count;
  return static_cast<ssize_t>(count);
}

void Input::wait(std::unique_lock<std::mutex>& lock, int rank, const Reader& reader) {
  const bool ask = !asked_;
  asked_ = true;
  if (!sched::current()) {
    if (ask) {
      lock.unlock();
      ask_(rank);
      lock.lock();
    }
    arrived_.wait(lock, [&] { return reader.next != bytes_.size() || reader.ends != ends_ || !asked_; });
    return;
  }
  sched::Waiter waiter(1);
  waiters_.push_back(&waiter);
  lock.unlock();
  if (ask) ask_(rank);
  {
    const sched::Inside inside(sched::current());  // read(2) is user code
    waiter.wait();
  }
  lock.lock();
}

void Input::leave(int rank) {
  const std::lock_guard lock(mutex_);
  if (const auto found = readers_.find(rank); found != readers_.end()) found->second.gone = true;
}

void Input::deliver(std::string_view bytes) {
  std::vector<sched::Waiter*> waiters;
  {
    const std::lock_guard lock(mutex_);
    forget_read();
    bytes_.append(bytes);
    if (bytes.empty()) ++ends_;
    asked_ = false;
    waiters.swap(waiters_);
  }
  arrived_.notify_all();
  for (sched::Waiter* waiter : waiters) waiter->complete();
}

// What all readers have read.
void Input::forget_read() {
  std::size_t least = bytes_.size();
  for (const auto& [rank, reader] : readers_) {
    if (!reader.gone) least = std::min(least, reader.next);
  }
  bytes_.erase(0, least);
  for (auto& [rank, reader] : readers_) reader.next -= std::min(reader.next, least);
}

}  // namespace tmpi::launch
