#include "observe/recorder.hpp"

#include <algorithm>
#include <utility>

#include "mpi/comm/comm.hpp"
#include "observe/functions.hpp"
#include "observe/recording.hpp"
#include "timers/clock.hpp"

namespace tmpi::observe {

OpenCall::OpenCall(std::uint16_t function, const void* frame) noexcept
    : rank_(Recording::instance()->calling_rank()), function_(function) {
  if (rank_ == nullptr) [[unlikely]]
    return;
  mpi::Caller site{std::exchange(rank_->comes_from.address, nullptr), rank_->comes_from.own};
  if (site.address == nullptr) site = mpi::caller_of(mpi::current_rank(), frame);
  if (site.own) [[unlikely]] {
    rank_ = nullptr;
    return;
  }
  address_ = reinterpret_cast<std::uint64_t>(site.address);
  waited_ = rank_->waited();
  idled_ = rank_->idled();
  begin_ = timers::now_ticks();
  if (rank_->open++ > 0) return;
  rank_->call_begin = begin_;
  rank_->call_address = address_;
  rank_->call_waited = waited_;
  rank_->call_idled = idled_;
  rank_->call_function = function;
}

void OpenCall::close(int result, const Shape& shape, const std::uint64_t* words) noexcept {
  if (rank_ == nullptr) [[unlikely]]
    return;
  close(result == MPI_SUCCESS ? measure(shape, words) : Measured{});
}

// What a rank computes between the first initiation of a series and the completion that follows: there
// progress can hide something.
void OpenCall::note_order(std::uint64_t end) noexcept {
  const CallClass kind = class_of_function(function_);
  if (kind == CallClass::kNonblocking && rank_->initiated == 0) {
    rank_->initiated = end;
    rank_->initiated_mpi = rank_->mpi_wall;
  } else if (kind == CallClass::kWait && rank_->initiated != 0) {
    const std::uint64_t calls = rank_->mpi_wall - rank_->initiated_mpi;  // this one included
    const std::uint64_t time = end - rank_->initiated;
    rank_->between += time - std::min(time, calls);
    rank_->initiated = 0;
  }
}

void OpenCall::close(const Measured& measured) noexcept {
  if (rank_ == nullptr) [[unlikely]]
    return;
  const std::uint64_t end = timers::now_ticks();
  const bool outermost = --rank_->open == 0;
  Recording& recording = *Recording::instance();
  if (recording.stopped()) return;
  const std::uint64_t wall = end - begin_;
  const std::uint64_t waited = rank_->waited() - waited_;
  Site& site = rank_->sites.find(address_, function_);
  ++site.calls;
  site.bytes += measured.bytes;
  site.wall += wall;
  site.waited += waited;
  site.idled += rank_->idled() - idled_;
  site.longest = std::max(site.longest, wall);
  site.shortest = std::min(site.shortest, wall);
  site.least = std::min(site.least, wall - std::min(wall, waited));
  if (const int collective = measured.comm == nullptr ? -1 : collective_of_function(function_);
      collective >= 0 && !measured.comm->inter()) {
    rank_->algorithms.add(measured.comm->chosen[static_cast<std::size_t>(collective)].algorithm,
                          static_cast<std::uint64_t>(measured.bytes), wall);
  }
  if (outermost) {  // what is inside another call is part of it
    rank_->mpi_wall += wall;
    rank_->mpi_waited += waited;
    note_order(end);
  }
  if (!recording.tracing()) return;
  Event call;
  call.begin = begin_;
  call.end = end;
  call.address = address_;
  call.context = measured.context;
  call.number = waited;
  call.bytes = measured.bytes;
  call.rank = rank_->world_rank;
  call.peer = measured.peer;
  call.tag = measured.tag;
  call.function = function_;
  call.kind = EventKind::kCall;
  call.rooted = measured.rooted;
  recording.push_own(call);
}

}  // namespace tmpi::observe
