// Other jobs of the same user on the same machine, which this one has been connected with (docs/design/dynamic-processes.md).
// A rank of another job has a number here, too, that only this job knows: which of the other jobs it is, in the order in
// which they have come, and its number there. Between jobs a rank goes by its job's id and its number in that job.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tmpi::mpi {

inline constexpr int kJobShift = 21;
/// Numbers of this job's own ranks are below: the bits above say which other job a rank is of.
inline constexpr int kMostRanks = 1 << kJobShift;
inline constexpr int kMostOtherJobs = 1022;   ///< that a job is ever connected with
inline constexpr int kMostOtherNodes = 1024;  ///< their node processes, in all

constexpr bool of_other_job(int rank) noexcept {
  return rank >= kMostRanks;
}
/// 0: this job; else the other job's index, from 1 on.
constexpr int job_of(int rank) noexcept {
  return rank >> kJobShift;
}
/// The number that a rank has in its own job.
constexpr int number_at_home(int rank) noexcept {
  return rank & (kMostRanks - 1);
}
constexpr int number_here(int index, int number) noexcept {
  return index << kJobShift | number;
}

class OtherJob {
 public:
  OtherJob(int job_index, std::uint64_t job_id, std::string job_name, int first, int count)
      : index(job_index), id(job_id), name(std::move(job_name)), first_node(first), nodes(count) {}
  ~OtherJob();
  OtherJob(const OtherJob&) = delete;
  OtherJob& operator=(const OtherJob&) = delete;

  const int index;
  const std::uint64_t id;
  const std::string name;  ///< for messages: "./server (tmpirun's process 1234)"
  const int first_node;    ///< its node processes are numbered from here on, behind this job's own
  const int nodes;
  /// Communicators of this process with ranks of it. seq_cst, as `ended`.
  std::atomic<int> communicators{0};
  std::atomic<bool> ended{false};  ///< nothing comes from there any more
  /// How it has ended if not as it should: who shares communicators with it from then on ends, too. Written before
  /// `ended_badly`, which comes before `ended`.
  std::string how_it_ended;
  std::atomic<bool> ended_badly{false};

  /// On which of its node processes a rank lives. Any thread; before anybody asks. False: nonsense.
  bool learn(int number, int node);
  /// Of a rank that has been learned of.
  int node_of(int number) const noexcept;

 private:
  static constexpr int kChunk = 256;
  using Chunk = std::array<std::atomic<std::int16_t>, kChunk>;
  std::array<std::atomic<Chunk*>, kMostRanks / kChunk> chunks_{};  // release and acquire: a chunk is complete
};

class OtherJobs {
 public:
  /// What ends this job: a communicator is made with ranks of a job that has ended badly meanwhile. Before any rank runs.
  void set_end(void (*end)(const OtherJob& job)) noexcept { end_ = end; }
  /// A communicator of this process has ranks of it.
  void count(OtherJob& job) const {
    ++job.communicators;
    if (job.ended_badly && end_ != nullptr) end_(job);
  }

  /// Of this job, the same in all its node processes. Before any rank runs. 0: nobody else knows of it.
  void set_own_id(std::uint64_t id) noexcept { own_.store(id, std::memory_order_relaxed); }
  std::uint64_t own_id() const noexcept { return own_.load(std::memory_order_relaxed); }

  /// Null: there is no room. One thread at a time. `own_nodes`: node processes of this job.
  OtherJob* add(int index, std::uint64_t id, std::string name, int own_nodes, int nodes);
  /// There has been one.
  bool any() const noexcept { return nodes_.load(std::memory_order_acquire) != 0; }
  /// Node processes of all that there have been.
  int nodes() const noexcept { return nodes_.load(std::memory_order_acquire); }

  /// By index; null: there is none.
  OtherJob* at(int index) const noexcept {
    return index > 0 && index <= kMostOtherJobs
               ? jobs_[static_cast<std::size_t>(index)].load(std::memory_order_acquire)
               : nullptr;
  }
  /// There are communicators with ranks of one that has not ended.
  bool any_connected() const noexcept;
  OtherJob* with_id(std::uint64_t id) const noexcept;
  OtherJob* with_node(int node) const noexcept;
  /// Of a rank of another job.
  int node_of(int rank) const noexcept {
    const OtherJob& job = *at(job_of(rank));
    return job.first_node + job.node_of(number_at_home(rank));
  }
  std::uint64_t id_of(int rank) const noexcept {
    return of_other_job(rank) ? at(job_of(rank))->id : own_id();
  }

 private:
  void (*end_)(const OtherJob& job) = nullptr;
  std::atomic<std::uint64_t> own_{0};
  std::atomic<int> nodes_{0};
  std::atomic<int> last_{0};                                       // index of the one that has come last
  std::array<std::atomic<OtherJob*>, kMostOtherJobs + 1> jobs_{};  // kept: numbers stay in groups
};

OtherJobs& other_jobs() noexcept;

/// "rank 3", "rank 3 of ./server (tmpirun's process 1234)".
std::string name_of_rank(int rank);

}  // namespace tmpi::mpi
