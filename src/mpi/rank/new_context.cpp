#include "mpi/rank/new_context.hpp"

#include <atomic>
#include <cstdlib>

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

namespace {
std::atomic<std::uint64_t> created{0};  // relaxed: only the value matters
}

std::uint64_t contexts_made() noexcept {
  return created.load(std::memory_order_relaxed);
}

void skip_contexts(std::uint64_t made) noexcept {
  std::uint64_t now = contexts_made();
  while (now < made && !created.compare_exchange_weak(now, made, std::memory_order_relaxed)) continue;
}

ContextBlock reserve_contexts(int count, bool between_jobs) noexcept {
  const auto many = static_cast<std::uint64_t>(count);
  std::uint64_t first = created.fetch_add(many, std::memory_order_relaxed);
  // A block does not wrap round: the few numbers before the end are left out.
  while ((first & detail::kNumberMask) + many > detail::kNumberMask)
    first = created.fetch_add(many, std::memory_order_relaxed);
  const int maker = current_rank().world_rank;
  return {between_jobs ? context_between_jobs(other_jobs().own_id(), maker, first) : context_id(maker, first),
          count};
}

ContextId new_context() noexcept {
  return reserve_contexts(1).first;
}

ContextId ContextSource::next() noexcept {
  if (!agreed_) return new_context();
  while (block_ < blocks_.size() && used_ == blocks_[block_].count) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) std::abort();  // fewer were set aside than are made: a defect of the caller
  return blocks_[block_].first + static_cast<unsigned>(used_++);
}

}  // namespace tmpi::mpi
