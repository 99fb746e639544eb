#include "check/rank_clocks.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "mpi/p2p/observer.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::check {
namespace {

std::atomic<RankClocks*> the_clocks{nullptr};  // release: the object; acquire whoever uses it

void on_sent(mpi::Rank& from, int to, const mpi::MatchKey& key, MPI_Count) noexcept {
  const mpi::Rank* const receiver = mpi::job()->local(to);
  RankClocks::instance()->sent(from.local_index, receiver == nullptr ? -1 : receiver->local_index, key);
}

void on_matched(mpi::Rank& to, const mpi::MatchKey& key, MPI_Count) noexcept {
  RankClocks::instance()->matched(to.local_index, key);
}

}  // namespace

void join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

RankClocks* RankClocks::instance() noexcept {
  return the_clocks.load(std::memory_order_acquire);
}

void RankClocks::begin() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (mpi::job()->local_count() > kMostRanks) return;
    the_clocks.store(new RankClocks(mpi::job()->most_local(), mpi::job()),
                     std::memory_order_release);  // for good
    static constexpr mpi::MessageObserver kMessages{.sent = &on_sent, .received = &on_matched};
    mpi::observe_messages(kMessages);
  });
}

void RankClocks::add(Known& known, const Clock& more) {
  join(known.now, more);
  known.carried.reset();
}

Clock RankClocks::of(int rank) {
  const std::lock_guard guard(lock_);
  return known(rank).now;
}

void RankClocks::tell(int rank, Clock& to) {
  const std::lock_guard guard(lock_);
  join(to, known(rank).now);
}

void RankClocks::learn(int rank, const Clock& from) {
  if (from.empty()) return;
  const std::lock_guard guard(lock_);
  add(known(rank), from);
}

std::uint32_t RankClocks::tick(int rank) {
  const std::lock_guard guard(lock_);
  Known& own = known(rank);
  const auto index = static_cast<std::size_t>(rank);
  if (own.now.size() <= index) own.now.resize(index + 1);
  own.carried.reset();
  return ++own.now[index];
}

bool RankClocks::known_to_all(int rank, std::uint32_t time) {
  const std::lock_guard guard(lock_);
  const auto there = job_ == nullptr ? ranks_.end() : ranks_.begin() + job_->local_count();
  return std::all_of(ranks_.begin(), there,
                     [&](const Known& other) { return time_of(rank, other.now) >= time; });
}

void RankClocks::receive(int rank) {
  const std::lock_guard guard(lock_);
  Known& own = known(rank);
  if (own.coming.empty()) return;
  add(own, own.coming);
  own.coming.clear();
}

void RankClocks::see_all(int rank) {
  const std::lock_guard guard(lock_);
  for (const auto& [lane, messages] : on_the_way_) {
    if (std::get<3>(lane) == rank) add(known(rank), *messages.back());
  }
  add(known(rank), elsewhere_);
}

void RankClocks::tell_everybody(int rank) {
  const std::lock_guard guard(lock_);
  join(everybody_, known(rank).now);
}

void RankClocks::hear_everybody(int rank) {
  const std::lock_guard guard(lock_);
  if (!everybody_.empty()) add(known(rank), everybody_);
}

void RankClocks::sent(int rank, int receiver, const mpi::MatchKey& key) {
  const std::lock_guard guard(lock_);
  Known& own = known(rank);
  if (receiver < 0) return join(elsewhere_, own.now);
  if (own.carried == nullptr) own.carried = std::make_shared<const Clock>(own.now);
  on_the_way_[Lane{key.context, key.source, key.tag, receiver}].push_back(own.carried);
}

void RankClocks::matched(int receiver, const mpi::MatchKey& key) {
  const std::lock_guard guard(lock_);
  const auto lane = on_the_way_.find(Lane{key.context, key.source, key.tag, receiver});
  if (lane == on_the_way_.end()) return join(known(receiver).coming, elsewhere_);
  // A cancelled message leaves its clock: the last one knows what those before it know.
  join(known(receiver).coming, some_cancelled_ ? *lane->second.back() : *lane->second.front());
  lane->second.pop_front();
  if (lane->second.empty()) on_the_way_.erase(lane);
}

void RankClocks::cancelled() {
  const std::lock_guard guard(lock_);
  some_cancelled_ = true;
}

}  // namespace tmpi::check
