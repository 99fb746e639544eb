// What the two kinds of partitioned operations have in common: between ranks of one node (partitioned.cpp)
// and of two (partitioned_remote.cpp). Internal to p2p.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/p2p/partitioned.hpp"
#include "mpi/request/extension.hpp"

namespace tmpi::mpi {

// PartitionedBuffer, holding its type.
class PartitionedSide {
 public:
  explicit PartitionedSide(const PartitionedBuffer& data)
      : buffer_(data.buffer), partitions_(data.partitions), count_(data.count), type_(&data.type) {
    type_->retain();
  }
  PartitionedSide(const PartitionedSide& other)
      : PartitionedSide(PartitionedBuffer{other.buffer_, other.partitions_, other.count_, *other.type_}) {}
  PartitionedSide& operator=(const PartitionedSide&) = delete;
  ~PartitionedSide() { type_->release(); }

  void* buffer() const noexcept { return buffer_; }
  MPI_Count count() const noexcept { return count_; }  ///< elements of a partition
  const Datatype& type() const noexcept { return *type_; }
  int partitions() const noexcept { return partitions_; }
  MPI_Count partition_bytes() const noexcept { return count_ * type_->size(); }
  MPI_Count bytes() const noexcept { return partitions_ * partition_bytes(); }
  bool contiguous() const noexcept { return type_->contiguous(); }
  std::byte* at(MPI_Count offset) const noexcept { return static_cast<std::byte*>(buffer_) + offset; }
  void pack(void* packed, MPI_Count offset, MPI_Count length) const {
    pack_segment(packed, buffer_, elements(), *type_, offset, length);
  }
  void unpack(const void* packed, MPI_Count offset, MPI_Count length) const {
    unpack_segment(buffer_, elements(), *type_, packed, offset, length);
  }

 private:
  MPI_Count elements() const noexcept { return partitions_ * count_; }
  void* buffer_;
  int partitions_;
  MPI_Count count_;
  const Datatype* type_;
};

class PartitionedSender : public RequestExtension {
 public:
  /// MPI_Pready_range of an active operation.
  virtual Err ready(int low, int high) = 0;
  Err outcome(Request& request, MPI_Status* status) override;

 protected:
  explicit PartitionedSender(const PartitionedBuffer& data) : side_(data) {}
  Err check_range(int low, int high) const;
  static Err ready_before(int low, int high);
  const PartitionedSide side_;
};

class PartitionedReceiver : public RequestExtension {
 public:
  /// MPI_Parrived.
  Err arrived(const Request& request, int partition, bool& flag) const;
  Err outcome(Request& request, MPI_Status* status) override;

 protected:
  PartitionedReceiver(const PartitionedBuffer& data, int source, int tag)
      : side_(data), arrived_(static_cast<std::size_t>(data.partitions)), source_(source), tag_(tag) {}
  bool null() const noexcept { return source_ == MPI_PROC_NULL; }
  void begin_round() noexcept;
  /// The round's data come in so many pieces. Before the first.
  void expect(int pieces) noexcept { to_come_.store(pieces, std::memory_order_relaxed); }
  /// A piece, bytes [offset, end) of the buffer, is there, or as much of it as there is room for. Once for each, before
  /// what completes the request knows of it. Any thread.
  void count(MPI_Count offset, MPI_Count end) noexcept;

  const PartitionedSide side_;

 private:
  std::vector<std::atomic<MPI_Count>> arrived_;  // bytes of each partition, but for the piece that comes last
  std::atomic<int> to_come_{0};                  // pieces of the round
  const int source_, tag_;
};

/// For a peer on another node, which is not MPI_PROC_NULL.
std::unique_ptr<PartitionedSender> make_remote_partitioned_send(Comm& comm, const PartitionedBuffer& data,
                                                                int dest, int tag);
std::unique_ptr<PartitionedReceiver> make_remote_partitioned_recv(Comm& comm, const PartitionedBuffer& data,
                                                                  int source, int tag);

}  // namespace tmpi::mpi
