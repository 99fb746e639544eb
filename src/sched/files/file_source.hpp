// A worker's calls on files that the kernel makes (file_ring.hpp), and their answers as a source: at every switch and while
// it idles as long as there are some to come; while it sleeps it is woken by them, as by what is left in its inbox.
// Inside the worker.
#pragma once

#include <memory>

#include "sched/files/file_ring.hpp"
#include "sched/loop/run_loop.hpp"
#include "sched/sources/source.hpp"

namespace tmpi::sched {

class FileSource final : public Source {
 public:
  explicit FileSource(RunLoop& loop) noexcept : Source(Reasons::kFiles, Cost::kMemory), loop_(loop) {}

  /// There is a ring, made at the first call.
  bool has_ring() noexcept TMPI_REQUIRES(inside_worker);
  /// Only with a ring. False: it takes none now.
  bool give(const FileCall& call, FileRing::Answer& answer) noexcept TMPI_REQUIRES(inside_worker);
  bool look() noexcept override TMPI_REQUIRES(inside_worker);
  /// Threads are about to be let in.
  void prepare_for_threads() noexcept TMPI_REQUIRES(inside_worker);

 private:
  RunLoop& loop_;
  std::unique_ptr<FileRing> ring_ TMPI_GUARDED_BY(inside_worker);
  bool refused_ TMPI_GUARDED_BY(inside_worker) = false;
};

}  // namespace tmpi::sched
