#include "sched/loop/policy.hpp"

#include <cstdint>
#include <new>
#include <vector>

#include "sched/policies.hpp"

namespace tmpi::sched {
namespace {

/// The task made ready last runs first; tasks that yield go to the far end, first come first served among
/// themselves.
class Lifo final : public Policy {
 public:
  void push(Task& task) noexcept override {
    task.next = top_;
    top_ = &task;
    if (bottom_ == nullptr) bottom_ = &task;
  }
  void push_yielded(Task& task) noexcept override {
    task.next = nullptr;
    (bottom_ == nullptr ? top_ : bottom_->next) = &task;
    bottom_ = &task;
  }
  Task* pop() noexcept override {
    Task* task = top_;
    if (task != nullptr) {
      top_ = task->next;
      if (top_ == nullptr) bottom_ = nullptr;
    }
    return task;
  }
  bool empty() const noexcept override { return top_ == nullptr; }
  bool reserve(int) noexcept override { return true; }

 private:
  Task* top_ = nullptr;
  Task* bottom_ = nullptr;
};

/// Every ready task is equally likely to run next. The order depends on seed, worker and the program only.
class Random final : public Policy {
 public:
  Random(std::uint64_t seed, int worker, int tasks)
      : state_(seed + 0x632be59bd9b4e019u * static_cast<unsigned>(worker + 1)) {
    ready_.reserve(static_cast<std::size_t>(tasks));
  }
  void push(Task& task) noexcept override { ready_.push_back(&task); }
  void push_yielded(Task& task) noexcept override { ready_.push_back(&task); }
  Task* pop() noexcept override {
    if (ready_.empty()) return nullptr;
    const std::size_t index = below(ready_.size());
    Task* task = ready_[index];
    ready_[index] = ready_.back();
    ready_.pop_back();
    return task;
  }
  bool empty() const noexcept override { return ready_.empty(); }
  bool reserve(int more) noexcept override {
    try {
      ready_.reserve(ready_.capacity() + static_cast<std::size_t>(more));
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

 private:
  /// SplitMix64 (Steele, Lea, Flood 2014).
  std::uint64_t random() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound): a multiplication's upper half; the bias of 2^-64 * bound is beyond any test.
  std::size_t below(std::size_t bound) noexcept {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(random()) * bound) >> 64);
  }

  std::uint64_t state_;
  std::vector<Task*> ready_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_policy(const std::string& name, int worker, int tasks) {
  const Result<PolicyChoice> chosen = parse_policy(name);
  if (!chosen) return chosen.failure();
  std::unique_ptr<Policy> policy;
  switch (chosen->kind) {
    case PolicyKind::kFifo:
      break;
    case PolicyKind::kLifo:
      policy = std::make_unique<Lifo>();
      break;
    case PolicyKind::kRandom:
      policy = std::make_unique<Random>(chosen->seed, worker, tasks);
      break;
  }
  return policy;
}

}  // namespace tmpi::sched
