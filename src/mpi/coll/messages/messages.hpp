// Messages: what the algorithms of this directory, which are made of point-to-point messages, send and
// receive with. They serve communicators with members on several nodes, intercommunicators, neighbourhoods,
// and whoever wants to compare algorithms (--coll).
//
// Collectives have a context of their own, so no receive of the program catches one of these messages.
// Several collectives on one communicator cannot mix: every member runs them in the same order, an algorithm
// is done with all its messages when it returns, and between two members all messages have one tag, so that
// they are matched in the order in which they were sent; each algorithm receives from a member in the order
// in which that member sends. The tag names the collective, for reports of blocked ranks, which of the
// operations on this context it belongs to (Comm::message_space), and of a reduction operator and kind of
// elements: members that do not agree about these wait for each other, instead of combining what does not fit.
//
// A message that is longer or shorter than its receiver's room does not end the algorithm, on which the others
// rely: it is remembered, and result() reports it.
#pragma once

#include <memory>

#include "mpi/coll/args.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/p2p/p2p.hpp"

namespace tmpi::mpi {

/// The third kind of traffic of a communicator, beside point-to-point and what makes communicators.
inline constexpr ContextId kCollectiveMessages = kCollective | ContextId{1} << 62;

class Messages {
 public:
  /// For one member's part in one collective; ranks are those that messages on `comm` go to (of an
  /// intercommunicator: the remote group's).
  Messages(Comm& comm, const Args& args)
      : comm_(comm), tag_(tag_of(comm, args.collective) | reduction_tag(args)) {}
  Messages(Comm& comm, Collective collective) : comm_(comm), tag_(tag_of(comm, collective)) {}

  /// All three SUSPEND until the data may be overwritten or used.
  void send(const Chunk& data, int dest);
  void recv(const Chunk& room, int source);
  void exchange(const Chunk& data, int dest, const Chunk& room, int source);

  /// What a member sends to itself.
  void copy(const Chunk& room, const Chunk& data) { fits_ &= copy_chunk(room, data); }

  /// MPI_ERR_TRUNCATE (explained) if something was of another size so far.
  Err result() const { return fits_ ? kOk : truncated_chunk(); }

 private:
  friend class MessageBatch;
  static constexpr int kSpaceShift = 4, kOperatorShift = 22, kKindShift = 26;
  static_assert(kCollectives <= 1 << kSpaceShift);
  static_assert(kOperators + 1 < 1 << (kKindShift - kOperatorShift) && kKinds <= 1 << (31 - kKindShift));

  static int tag_of(const Comm& comm, Collective collective) noexcept {
    return static_cast<int>(collective) | comm.message_space << kSpaceShift;
  }
  static int reduction_tag(const Args& args) noexcept {
    if (args.op == nullptr) return 0;
    return (static_cast<int>(args.op->which) + 1) << kOperatorShift | static_cast<int>(args.recv.type->kind())
                                                                          << kKindShift;
  }
  ContextId context() const noexcept { return comm_.context | kCollectiveMessages; }

  Comm& comm_;
  const int tag_;
  bool fits_ = true;
};

/// Several messages that are on their way at once. Buffers and the batch stay until wait() has returned.
class MessageBatch {
 public:
  MessageBatch(Messages& messages, int most);
  ~MessageBatch() { std::destroy_n(requests_, count_); }
  MessageBatch(const MessageBatch&) = delete;
  MessageBatch& operator=(const MessageBatch&) = delete;
  /// Start a message; MPI_PROC_NULL is a partner with whom nothing happens. Do not suspend.
  void send(const Chunk& data, int dest);
  void recv(const Chunk& room, int source);
  /// Until all are done. Once. SUSPENDS.
  void wait();

 private:
  // As many as a grid of three dimensions has, both ways. Memory from malloc, of which other ranks of the worker have
  // theirs at the same time, takes as long as several messages of a few bytes.
  static constexpr int kFew = 12;

  Request& next(RequestKind kind, const Chunk& chunk, int peer);

  Messages& messages_;
  alignas(Request) std::byte few_[kFew * sizeof(Request)];
  Request* few_pending_[kFew];
  std::unique_ptr<std::byte[]> many_;
  std::unique_ptr<Request*[]> many_pending_;
  Request* requests_ = reinterpret_cast<Request*>(few_);  // count_ of them are there
  Request** pending_ = few_pending_;
  int count_ = 0;
};

/// Packed data.
inline Chunk bytes_chunk(std::byte* data, MPI_Count bytes) noexcept {
  return {data, bytes, checked_type(MPI_BYTE)};
}
/// The empty message.
inline Chunk no_data() noexcept {
  return bytes_chunk(nullptr, 0);
}
/// Chunks [first, first + count) of a side whose chunks are all alike: neighbours in memory.
inline Chunk chunks_of(const Side& side, int first, int count) noexcept {
  return {static_cast<std::byte*>(side.data) + first * side.count * side.type->extent(), count * side.count,
          side.type};
}
/// Elements [first, first + count) of a vector.
inline Chunk elements_of(std::byte* vector, MPI_Count first, MPI_Count count, const Datatype& type) noexcept {
  return {vector + first * type.extent(), count, &type};
}

/// The packed bytes of a chunk: the chunk's own memory if its type is contiguous, else a copy.
class PackedChunk {
 public:
  explicit PackedChunk(const Chunk& chunk);
  std::byte* data() noexcept { return data_; }
  /// From and to the chunk; nothing to do without a copy.
  void load();
  void store();

 private:
  const Chunk chunk_;
  std::unique_ptr<std::byte[]> copy_;
  std::byte* data_;
};

/// The binomial tree of n members around a root: my subtree is the `span` members from me on, counted
/// relative to the root.
class BinomialTree {
 public:
  BinomialTree(int rank, int root, int members) : root_(root), members_(members) {
    me_ = rank - root + (rank < root ? members : 0);
    while (span_ < members && (me_ & span_) == 0) span_ *= 2;
  }
  int me() const noexcept { return me_; }  ///< relative to the root
  bool is_root() const noexcept { return me_ == 0; }
  int parent() const noexcept { return rank_of(me_ - span_); }
  int rank_of(int relative) const noexcept { return (relative + root_) % members_; }
  /// Members of the subtree of `relative`, whose distance from its parent is `distance`.
  int members_from(int relative, int distance) const noexcept {
    return std::min(distance, members_ - relative);
  }
  int members() const noexcept { return members_from(me_, span_); }

  /// Calls body(relative rank, distance) for each child, the nearest (smallest subtree) first, or the
  /// farthest.
  template <class Body>
  void nearest_first(Body&& body) const {
    for (int d = 1; d < span_ && me_ + d < members_; d *= 2) body(me_ + d, d);
  }
  template <class Body>
  void farthest_first(Body&& body) const {
    for (int d = span_ / 2; d > 0; d /= 2) {
      if (me_ + d < members_) body(me_ + d, d);
    }
  }

 private:
  int root_;
  int members_;
  int me_ = 0;
  int span_ = 1;
};

}  // namespace tmpi::mpi
