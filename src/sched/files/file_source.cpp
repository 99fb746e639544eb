#include "sched/files/file_source.hpp"

namespace tmpi::sched {

// Threads that park at the inbox in the worker's place would not be woken: once they are let in, there are no new calls.
bool FileSource::has_ring() noexcept {
  if (loop_.door().admits() || refused_) return false;
  if (ring_ == nullptr) ring_ = FileRing::make();
  refused_ = ring_ == nullptr;
  return !refused_;
}

bool FileSource::give(const FileCall& call, FileRing::Answer& answer) noexcept {
  if (!ring_->give(call, answer)) return false;
  if (ring_->under_way() == 1) {
    loop_.reasons().give(Reasons::kFiles);
    loop_.parking().listen_to(ring_->answered(), ring_->event());
  }
  return true;
}

bool FileSource::look() noexcept {
  ring_->take_answers();
  if (ring_->under_way() > 0) return false;
  loop_.reasons().end(Reasons::kFiles);
  if (loop_.door().admits()) {
    loop_.parking().be_restless(false);
  } else {
    loop_.parking().listen_to(-1, -1);
  }
  return false;
}

// What the kernel has been given before is answered at the worker's inbox, and nowhere else.
void FileSource::prepare_for_threads() noexcept {
  if ((loop_.reasons().now() & Reasons::kFiles) == 0) return;
  loop_.parking().be_restless(true);
  loop_.parking().listen_to(-1, -1);
}

}  // namespace tmpi::sched
