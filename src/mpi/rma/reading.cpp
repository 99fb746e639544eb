#include "mpi/rma/reading.hpp"

#include <algorithm>
#include <bit>

namespace tmpi::mpi::rma {

Exposure exposure_of(const net::RemoteKey& key, const void* memory) noexcept {
  return {{key.word[0], key.word[1]}, std::bit_cast<std::uintptr_t>(memory)};
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
  go_on();
}

void Reading::got(net::Completion& completion) noexcept {
  auto& piece = static_cast<Piece&>(completion);
  Reading& reading = *piece.owner;
  reading.take_in(piece);
  reading.go_on();
}

void Reading::take_in(Piece& piece) noexcept {
  core_->count_landed();
  piece.busy = false;
  arrived_ += piece.bytes;
}

void Reading::go_on() noexcept {
  while (begun_ < bytes_) {
    const auto free = std::find_if(pieces_.begin(), pieces_.end(), [](const Piece& p) { return !p.busy; });
    if (free == pieces_.end()) return;
    free->owner = this;
    free->done = got;
    free->busy = true;
    free->bytes = core_->piece(bytes_ - begun_, false);
    const remote::Backlog::Read read{{{from_.key[0], from_.key[1]}},
                                     from_.address + static_cast<std::uint64_t>(begun_),
                                     to_ + begun_,
                                     static_cast<std::size_t>(free->bytes)};
    begun_ += free->bytes;
    if (core_->backlog.get(peer_, read, *free)) take_in(*free);
  }
  if (arrived_ == bytes_) done_(*this);  // gone, perhaps
}

}  // namespace tmpi::mpi::rma
