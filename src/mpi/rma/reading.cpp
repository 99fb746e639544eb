#include "mpi/rma/reading.hpp"

#include <algorithm>
#include <bit>
#include <deque>

namespace tmpi::mpi::rma {

Exposure exposure_of(const net::RemoteKey& key, const void* memory) noexcept {
  return {{key.word[0], key.word[1]}, std::bit_cast<std::uintptr_t>(memory)};
}

Reading::Queue& Reading::queue_from(const remote::Core& core, int peer) {
  static auto& queues = *new std::deque<Queue>;  // by peer; they keep their address
  while (queues.size() <= static_cast<std::size_t>(peer)) queues.emplace_back().limit(core.transfer_depth);
  return queues[static_cast<std::size_t>(peer)];
}

void Reading::begin(remote::Core& core, int peer, const Exposure& from, std::byte* to, MPI_Count bytes,
                    Done done) noexcept {
  core_ = &core;
  peer_ = peer;
  from_ = from;
  to_ = to;
  bytes_ = bytes;
  begun_ = arrived_ = 0;
  done_ = done;
  turn = 0;
  ++core.counters.reads;
  core.counters.read_bytes += static_cast<std::uint64_t>(bytes);
  Queue& queue = queue_from(core, peer);
  queue.join(*this);
  serve(queue);
}

// Begins the reads that may be begun from a peer now.
void Reading::serve(Queue& queue) noexcept {
  while (Reading* const reading = queue.take()) {
    reading->post_piece(queue);
    reading->go_on(queue);
  }
}

// One of its pieces is free, and there is data left.
void Reading::post_piece(Queue& queue) noexcept {
  Piece& piece = *std::ranges::find(pieces_, false, &Piece::busy);
  piece.owner = this;
  piece.done = got;
  piece.busy = true;
  piece.bytes = core_->piece(bytes_ - begun_, false);
  const remote::Backlog::Read read{{{from_.key[0], from_.key[1]}},
                                   from_.address + static_cast<std::uint64_t>(begun_),
                                   to_ + begun_,
                                   static_cast<std::size_t>(piece.bytes)};
  begun_ += piece.bytes;
  queue.posted(*this, piece.bytes);
  if (core_->backlog.get(peer_, read, piece)) take_in(piece, queue);
}

void Reading::take_in(Piece& piece, Queue& queue) noexcept {
  core_->count_landed();
  piece.busy = false;
  arrived_ += piece.bytes;
  queue.done(piece.bytes);
}

void Reading::got(net::Completion& completion) noexcept {
  auto& piece = static_cast<Piece&>(completion);
  Reading& reading = *piece.owner;
  Queue& queue = queue_from(*reading.core_, reading.peer_);
  reading.take_in(piece, queue);
  reading.go_on(queue);  // gone, perhaps
  serve(queue);
}

// After a piece has been begun, or is there: gets in the queue again, or is done.
void Reading::go_on(Queue& queue) noexcept {
  if (begun_ < bytes_) {
    if (!std::ranges::all_of(pieces_, &Piece::busy)) queue.join(*this);
  } else if (arrived_ == bytes_) {
    done_(*this);  // gone, perhaps
  }
}

}  // namespace tmpi::mpi::rma
