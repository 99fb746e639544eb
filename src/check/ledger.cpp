#include "check/ledger.hpp"

#include <map>
#include <mutex>

namespace tmpi::check {
namespace {

SpinLock lock_of_all;

std::map<std::uint64_t, std::weak_ptr<Ledger>>& all() {
  static auto* const ledgers = new std::map<std::uint64_t, std::weak_ptr<Ledger>>;  // never destroyed
  return *ledgers;
}

}  // namespace

std::shared_ptr<Ledger> Ledger::of(std::uint64_t context) {
  const std::lock_guard guard(lock_of_all);
  std::weak_ptr<Ledger>& known = all()[context];
  std::shared_ptr<Ledger> ledger = known.lock();
  if (ledger == nullptr) {
    ledger = std::make_shared<Ledger>(context);
    known = ledger;
  }
  return ledger;
}

Ledger::~Ledger() {
  const std::lock_guard guard(lock_of_all);
  const auto known = all().find(context_);
  if (known != all().end() && known->second.expired()) all().erase(known);
}

std::optional<CollectiveCall> Ledger::arrive(std::uint64_t sequence, int members,
                                             const CollectiveCall& call) {
  const std::lock_guard guard(lock_);
  if (given_up_ || sequence < begin_) return std::nullopt;
  const std::size_t index = sequence - begin_;
  while (slots_.size() <= index) slots_.emplace_back();
  Slot& slot = slots_[index];
  if (slot.arrived == 0) {
    slot.first = call;
  } else if (!matches(slot.first, call)) {
    return slot.first;
  }
  ++slot.arrived;
  while (!slots_.empty() && slots_.front().arrived >= members) {
    slots_.pop_front();
    ++begin_;
  }
  return std::nullopt;
}

std::optional<OneSidedAccess> Ledger::access(std::uint64_t fence, int target, const OneSidedAccess& access) {
  const std::lock_guard guard(lock_);
  return given_up_ ? std::nullopt : accesses_.add(fence, target, access);
}

void Ledger::give_up() {
  const std::lock_guard guard(lock_);
  given_up_ = true;
  slots_.clear();
}

}  // namespace tmpi::check
