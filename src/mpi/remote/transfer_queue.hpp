// TransferQueue: the large messages whose data goes to a peer, or comes from it, and which of them is to post the next piece.
// First come, first served: what is there early lets a rank go on early, whereas pieces in turn would have all be there
// late. Only so much is posted at a time, where somebody posts the next piece soon; what is not data (RTS, CTS, FIN)
// then finds the wire free after that, and not after all data of all ranks. docs/network.md, "The transfer queue". Used
// under the engine's lock.
#pragma once

#include <cstdint>

#include "mpi.h"

namespace tmpi::mpi::remote {

/// What a transfer has for its queue.
template <class T>
struct InTransferQueue {
  T* next_queued = nullptr;
  bool queued = false;
  MPI_Count turn = 0;  ///< bytes since it came to the front
};

/// T derives from InTransferQueue<T>, and is in one queue at most.
template <class T>
class TransferQueue {
 public:
  /// Who has moved so much in a row lets others come first: one message of gigabytes holds up nobody for long.
  static constexpr MPI_Count kTurn = MPI_Count{4} << 20;

  /// So many bytes, or a piece more, are under way at a time; 0, the default: as many as there are.
  void limit(MPI_Count depth) noexcept { depth_ = depth; }

  /// It has something to post.
  void join(T& transfer) noexcept {
    if (transfer.queued) return;
    transfer.queued = true;
    if (transfer.turn > 0 && transfer.turn < kTurn) {
      transfer.next_queued = first_;
      first_ = &transfer;
      if (last_ == nullptr) last_ = &transfer;
      return;
    }
    transfer.turn = 0;
    transfer.next_queued = nullptr;
    (last_ != nullptr ? last_->next_queued : first_) = &transfer;
    last_ = &transfer;
  }

  /// Who is to post, and is in the queue no longer; null: nobody, for now.
  T* take() noexcept {
    if (first_ == nullptr || (depth_ > 0 && under_way_ >= depth_)) return nullptr;
    T& transfer = *first_;
    first_ = transfer.next_queued;
    if (first_ == nullptr) last_ = nullptr;
    transfer.queued = false;
    return &transfer;
  }

  void posted(T& transfer, MPI_Count bytes) noexcept {
    transfer.turn += bytes;
    under_way_ += bytes;
  }
  void done(MPI_Count bytes) noexcept { under_way_ -= bytes; }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  MPI_Count under_way_ = 0;
  MPI_Count depth_ = 0;
};

}  // namespace tmpi::mpi::remote
