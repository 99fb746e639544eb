#include "observe/recorder.hpp"

#include <algorithm>

namespace tmpi::observe {

void OpenCall::close(const Measured& measured) noexcept {
  const std::uint64_t end = timers::now_ticks();
  const bool outermost = --rank_.open == 0;
  Recording& recording = *Recording::instance();
  if (recording.stopped()) return;
  const std::uint64_t wall = end - begin_;
  const std::uint64_t waited = rank_.waited - waited_;
  Site& site = rank_.sites.find(address_, function_);
  ++site.calls;
  site.bytes += measured.bytes;
  site.wall += wall;
  site.waited += waited;
  site.idled += rank_.idled - idled_;
  site.longest = std::max(site.longest, wall);
  if (outermost) {  // what is inside another call is part of it
    rank_.mpi_wall += wall;
    rank_.mpi_waited += waited;
  }
  if (!recording.tracing()) return;
  Event call;
  call.begin = begin_;
  call.end = end;
  call.address = address_;
  call.context = measured.context;
  call.number = waited;
  call.bytes = measured.bytes;
  call.rank = rank_.world_rank;
  call.peer = measured.peer;
  call.tag = measured.tag;
  call.function = function_;
  call.kind = EventKind::kCall;
  call.rooted = measured.rooted;
  recording.push_own(call);
}

}  // namespace tmpi::observe
