#include "mpi/base/other_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tmpi::mpi {

OtherJob::~OtherJob() {
  for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

bool OtherJob::learn(int number, int node) {
  if (number < 0 || number >= kMostRanks || node < 0 || node >= nodes) return false;
  std::atomic<Chunk*>& place = chunks_[static_cast<std::size_t>(number / kChunk)];
  Chunk* chunk = place.load(std::memory_order_acquire);
  if (chunk == nullptr) {
    auto fresh = std::make_unique<Chunk>();
    if (place.compare_exchange_strong(chunk, fresh.get(), std::memory_order_acq_rel)) chunk = fresh.release();
  }
  (*chunk)[static_cast<std::size_t>(number % kChunk)].store(static_cast<std::int16_t>(node),
                                                            std::memory_order_relaxed);
  return true;
}

int OtherJob::node_of(int number) const noexcept {
  const Chunk* chunk = chunks_[static_cast<std::size_t>(number / kChunk)].load(std::memory_order_acquire);
  return (*chunk)[static_cast<std::size_t>(number % kChunk)].load(std::memory_order_relaxed);
}

OtherJob* OtherJobs::add(int index, std::uint64_t id, std::string name, int own_nodes, int nodes) {
  const int before = nodes_.load(std::memory_order_relaxed);
  if (index < 1 || index > kMostOtherJobs || nodes < 1 || nodes > kMostOtherNodes - before ||
      at(index) != nullptr)
    return nullptr;
  auto* const job = new OtherJob(index, id, std::move(name), own_nodes + before, nodes);
  jobs_[static_cast<std::size_t>(index)].store(job, std::memory_order_release);
  last_.store(std::max(index, last_.load(std::memory_order_relaxed)), std::memory_order_release);
  nodes_.store(before + nodes, std::memory_order_release);
  return job;
}

bool OtherJobs::any_connected() const noexcept {
  for (int index = last_.load(std::memory_order_acquire); index > 0; --index) {
    const OtherJob* const job = at(index);
    if (job != nullptr && !job->ended && job->communicators > 0) return true;
  }
  return false;
}

OtherJob* OtherJobs::with_id(std::uint64_t id) const noexcept {
  for (int index = last_.load(std::memory_order_acquire); index > 0; --index) {
    OtherJob* const job = at(index);
    if (job != nullptr && job->id == id) return job;
  }
  return nullptr;
}

OtherJob* OtherJobs::with_node(int node) const noexcept {
  for (int index = last_.load(std::memory_order_acquire); index > 0; --index) {
    OtherJob* const job = at(index);
    if (job != nullptr && node >= job->first_node && node < job->first_node + job->nodes) return job;
  }
  return nullptr;
}

OtherJobs& other_jobs() noexcept {
  static OtherJobs all;
  return all;
}

std::string name_of_rank(int rank) {
  const OtherJob* const job = of_other_job(rank) ? other_jobs().at(job_of(rank)) : nullptr;
  if (job == nullptr) return fmt::format("rank {}", rank);
  return fmt::format("rank {} of {}", number_at_home(rank), job->name);
}

}  // namespace tmpi::mpi
