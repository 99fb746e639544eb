// TransferQueue: the large messages whose data goes to a peer, or comes from it, and which of them is to post the next
// piece. That whose rank has waited longest: ranks that wait together go on one after the other, whereas pieces in turn
// would have all go on late. Only so much is posted at a time, where somebody posts the next piece soon; what is not data
// (RTS, CTS, FIN) then finds the wire free after that, and not after all data of all ranks. docs/design/network.md, "The transfer
// queue". Used under the engine's lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpi.h"

namespace tmpi::mpi::remote {

/// What a transfer has for its queue.
template <class T>
struct InTransferQueue {
  T* next_queued = nullptr;
  T* previous_queued = nullptr;
  bool queued = false;
  std::uint64_t order =
      0;  ///< the lower, the sooner: ticks since which the rank of its send or of its receive waits
  MPI_Count turn = 0;  ///< bytes since it began, or has let others come first
};

/// Who has moved so much in a row lets others come first: one message of gigabytes holds up nobody for long.
inline constexpr MPI_Count kTransferTurn = MPI_Count{4} << 20;

/// T derives from InTransferQueue<T>, and is in one queue at most.
template <class T>
class TransferQueue {
 public:
  static constexpr MPI_Count kTurn = kTransferTurn;

  /// So many bytes, or a piece more, are under way at a time; 0, the default: as many as there are.
  void limit(MPI_Count depth) noexcept { depth_ = depth; }
  /// A transfer that finds nothing under way begins with a piece of at most so many bytes, and nothing else goes until
  /// that has left; 0, the default: with one as any other.
  void open_with(MPI_Count opening) noexcept { opening_ = opening; }

  /// It has something to post.
  void join(T& transfer) noexcept {
    if (transfer.queued) return;
    transfer.queued = true;
    if (opening_ > 0 && first_ == nullptr && under_way_ == 0 && transfer.turn == 0) opens_ = true;
    if (transfer.turn >= kTurn) {
      transfer.turn = 0;
      if (last_ != nullptr) transfer.order = std::max(transfer.order, last_->order);
    }
    // Most go on where they have been, or come last.
    T* before = last_;
    if (first_ != nullptr && transfer.turn > 0 && transfer.order <= first_->order) before = nullptr;
    while (before != nullptr && before->order > transfer.order) before = before->previous_queued;
    T* const after = before != nullptr ? before->next_queued : first_;
    transfer.previous_queued = before;
    transfer.next_queued = after;
    (before != nullptr ? before->next_queued : first_) = &transfer;
    (after != nullptr ? after->previous_queued : last_) = &transfer;
  }

  /// Who is to post, and is in the queue no longer; null: nobody, for now.
  T* take() noexcept {
    if (first_ == nullptr || alone_ || (depth_ > 0 && under_way_ >= depth_)) return nullptr;
    T& transfer = *first_;
    first_ = transfer.next_queued;
    (first_ != nullptr ? first_->previous_queued : last_) = nullptr;
    transfer.queued = false;
    return &transfer;
  }

  /// How much of `bytes` to post now.
  MPI_Count piece(MPI_Count bytes) const noexcept { return opens_ ? std::min(bytes, opening_) : bytes; }

  void posted(T& transfer, MPI_Count bytes) noexcept {
    transfer.turn += bytes;
    under_way_ += bytes;
    alone_ = std::exchange(opens_, false);
  }
  void done(MPI_Count bytes) noexcept {
    under_way_ -= bytes;
    alone_ = false;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  MPI_Count under_way_ = 0;
  MPI_Count depth_ = 0;
  MPI_Count opening_ = 0;
  bool opens_ = false;  // what is posted next finds nothing under way
  bool alone_ = false;  // that has been posted, and has not left
};

/// Peers whose queues may have something to post.
class Unserved {
 public:
  void use(int peers) {
    marked_.assign(static_cast<std::size_t>(peers), false);
    peers_.clear();
    peers_.reserve(static_cast<std::size_t>(peers));
  }
  void add(int peer) noexcept {
    if (marked_[static_cast<std::size_t>(peer)]) return;
    marked_[static_cast<std::size_t>(peer)] = true;
    peers_.push_back(peer);  // reserved
  }
  bool empty() const noexcept { return peers_.empty(); }
  /// Calls serve(peer) for each, which may add more.
  template <class Serve>
  void take(Serve&& serve) {
    while (!peers_.empty()) {
      const int peer = peers_.back();
      peers_.pop_back();
      marked_[static_cast<std::size_t>(peer)] = false;
      serve(peer);
    }
  }

 private:
  std::vector<bool> marked_;
  std::vector<int> peers_;
};

/// The queues of all peers.
template <class T>
class TransferQueues {
 public:
  /// So many bytes are under way at a time to or from each peer; 0: as many as there are, and nobody is served later.
  void use(int peers, MPI_Count depth) {
    queues_.resize(static_cast<std::size_t>(peers));
    for (auto& queue : queues_) queue.limit(depth);
    unserved_.use(peers);
    later_ = depth > 0;
  }
  void open_with(MPI_Count opening) noexcept {
    for (auto& queue : queues_) queue.open_with(opening);
  }
  TransferQueue<T>& of(int peer) noexcept { return queues_[static_cast<std::size_t>(peer)]; }

  // Calls post(transfer, queue), which posts the next piece of it, for what may be posted to a peer.
  /// At once, or by serve_all().
  template <class Post>
  void serve_soon(int peer, Post&& post) {
    if (later_)
      unserved_.add(peer);
    else
      serve(of(peer), post);
  }
  template <class Post>
  void serve_all(Post&& post) {
    unserved_.take([&](int peer) { serve(of(peer), post); });
  }
  bool has_to_serve() const noexcept { return !unserved_.empty(); }

 private:
  template <class Post>
  static void serve(TransferQueue<T>& queue, Post& post) {
    while (T* const transfer = queue.take()) post(*transfer, queue);
  }

  std::vector<TransferQueue<T>> queues_;
  Unserved unserved_;
  bool later_ = false;
};

}  // namespace tmpi::mpi::remote
