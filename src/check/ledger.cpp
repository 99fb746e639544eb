#include "check/ledger.hpp"

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

void Ledger::meet(std::uint64_t sequence, RankClocks& clocks, int rank) {
  const std::lock_guard guard(lock_);
  Passage& here = passages_[given_up_ ? kNowhere : sequence];
  clocks.tell(rank, here.clock);
  ++here.come;
}

void Ledger::part(std::uint64_t sequence, int members, RankClocks& clocks, int rank) {
  const std::lock_guard guard(lock_);
  if (const auto anywhere = passages_.find(kNowhere); anywhere != passages_.end())
    clocks.learn(rank, anywhere->second.clock);
  const auto here = passages_.find(sequence);
  if (here == passages_.end() || sequence == kNowhere) return;
  clocks.learn(rank, here->second.clock);
  if (++here->second.gone >= members) passages_.erase(here);
}

bool Ledger::part_if_met(std::uint64_t sequence, int members, RankClocks& clocks, int rank) {
  {
    const std::lock_guard guard(lock_);
    const auto here = passages_.find(sequence);
    if (here != passages_.end() && here->second.come < members && !given_up_) {
      clocks.learn(rank, here->second.clock);
      return false;
    }
  }
  part(sequence, members, clocks, rank);
  return true;
}

void Ledger::give_up() {
  const std::lock_guard guard(lock_);
  given_up_ = true;
  slots_.clear();
}

}  // namespace tmpi::check
