// How a worker has calls on files made by the kernel (file_ring.hpp), and finds the answers: at every switch and while it
// idles; while it sleeps it is woken by them, as by what is left in its inbox.
#include "sched/worker.hpp"

namespace tmpi::sched {

// Threads that park at the inbox in the worker's place would not be woken: once they are let in, there are no new calls.
bool Worker::has_file_ring() noexcept {
  if (entrance_.admits() || no_ring_) return false;
  if (files_ == nullptr) files_ = FileRing::make();
  no_ring_ = files_ == nullptr;
  return !no_ring_;
}

bool Worker::give_to_ring(const FileCall& call, FileRing::Answer& answer) noexcept {
  if (!files_->give(call, answer)) return false;
  if (files_->under_way() == 1) {
    watch_for(kFiles);
    parking().listen_to(files_->answered(), files_->event());
  }
  return true;
}

void Worker::take_answers() noexcept {
  if (!watches_for(kFiles)) return;
  files_->take_answers();
  if (files_->under_way() > 0) return;
  watch_no_more_for(kFiles);
  if (entrance_.admits()) {
    parking().be_restless(false);
  } else {
    parking().listen_to(-1, -1);
  }
}

// What the kernel has been given before threads are let in is answered at the worker's inbox, and nowhere else.
void Worker::admit(bool inside) noexcept {
  if (watches_for(kFiles)) {
    parking().be_restless(true);
    parking().listen_to(-1, -1);
  }
  entrance_.admit(inside);
}

}  // namespace tmpi::sched
