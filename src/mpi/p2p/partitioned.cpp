// Between ranks of one node. The two requests share a Link, which the sender makes and sends to the receiver
// as a message of its own when the operations are initialized. In each round both sides open the link
// (MPI_Start); a partition moves, by one copy, when it is ready and the receive is open: whoever comes second
// copies, under no lock. A round is over when every partition of the sender has moved, and completes both
// requests.
#include "mpi/p2p/partitioned.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/base/status.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/partitioned_sides.hpp"
#include "mpi/p2p/transfer.hpp"

namespace tmpi::mpi {
namespace {

using Side = PartitionedSide;

// Copies bytes [offset, offset + length) of the packed stream from one buffer to the other.
void copy_range(const Side& to, const Side& from, MPI_Count offset, MPI_Count length) {
  if (from.contiguous() && to.contiguous()) {
    std::memcpy(to.at(offset), from.at(offset), static_cast<std::size_t>(length));
  } else if (to.contiguous()) {
    from.pack(to.at(offset), offset, length);
  } else if (from.contiguous()) {
    to.unpack(from.at(offset), offset, length);
  } else {
    std::array<std::byte, 4096> piece;
    while (length > 0) {
      const MPI_Count n = std::min<MPI_Count>(length, piece.size());
      from.pack(piece.data(), offset, n);
      to.unpack(piece.data(), offset, n);
      offset += n;
      length -= n;
    }
  }
}

class PartitionedRecv;

class Link {
 public:
  explicit Link(const Side& send)
      : send_(send), states_(static_cast<std::size_t>(send.partitions())), left_(send.partitions() + 2) {}

  void open_send(Request& request) noexcept {
    lock_.lock();
    std::fill(states_.begin(), states_.end(), State::kIdle);
    sender_ = &request;
    lock_.unlock();
    count_down();
  }

  void open_recv(PartitionedRecv& recv, Request& request) noexcept;

  // False if a partition of the range was released before; those before it are released now.
  bool ready(int low, int high) noexcept {
    for (auto i = static_cast<std::size_t>(low); i <= static_cast<std::size_t>(high); ++i) {
      lock_.lock();
      const bool idle = states_[i] == State::kIdle;
      if (idle) states_[i] = State::kReady;
      lock_.unlock();
      if (!idle) return false;
      if (advance(i, State::kReady)) move(i);
    }
    return true;
  }

 private:
  enum class State : unsigned char { kIdle, kReady, kMoved };

  // True for the one who has to move the partition: ready, and somewhere to go.
  bool advance(std::size_t i, State from) noexcept {
    lock_.lock();
    const bool mine = receiver_ != nullptr && states_[i] == from;
    if (mine) states_[i] = State::kMoved;
    lock_.unlock();
    return mine;
  }

  void move(std::size_t i) noexcept;
  void count_down() noexcept;

  SpinLock lock_;
  const Side send_;
  std::vector<State> states_;
  // Of the round in progress; null while not started.
  Request* sender_ = nullptr;
  Request* receiver_ = nullptr;
  PartitionedRecv* recv_ = nullptr;
  // Partitions not yet moved, and sides not yet open. acq_rel: who reaches zero sees all that was copied.
  std::atomic<int> left_;
};

using LinkPointer = std::shared_ptr<Link>;

// The request that brings the link from one side to the other: `handed` is a LinkPointer on the heap.
void prepare_request(Request& request, RequestKind kind, Comm& comm, int peer, int tag,
                     LinkPointer*& handed) noexcept {
  request.kind = kind;
  request.comm = &comm;
  request.context = comm.context | kPartitioned;
  request.buffer = &handed;
  request.count = sizeof handed;
  request.type = datatype_from(MPI_BYTE);
  request.peer = peer;
  request.tag = tag;
}

class PartitionedSend final : public PartitionedSender {
 public:
  PartitionedSend(Comm& comm, const PartitionedBuffer& data, int dest, int tag)
      : PartitionedSender(data), link_(std::make_shared<Link>(side_)), null_(dest == MPI_PROC_NULL) {
    if (null_) return;
    handed_ = new LinkPointer(link_);
    prepare_request(setup_, RequestKind::kSend, comm, dest, tag, handed_);
    start_send(setup_);
  }

  Err start(Request& request) override {
    if (null_)
      request.complete();
    else if (setup_.done() && setup_.error != MPI_SUCCESS)
      return not_sent(setup_.peer);
    else
      link_->open_send(request);
    return kOk;
  }
  // The link is still on its way if the receive was never initialized.
  Err retire(Request&) override {
    if (null_) return kOk;
    TMPI_TRY(tmpi::mpi::cancel(setup_));
    if (setup_.cancelled || setup_.error != MPI_SUCCESS) delete handed_;
    wait(setup_);
    return kOk;
  }

  Err ready(int low, int high) override {
    TMPI_TRY(check_range(low, high));
    return null_ || link_->ready(low, high) ? kOk : ready_before(low, high);
  }

 private:
  LinkPointer link_;
  bool null_;
  LinkPointer* handed_ = nullptr;
  Request setup_;
};

class PartitionedRecv final : public PartitionedReceiver, private Continuation {
 public:
  PartitionedRecv(Comm& comm, const PartitionedBuffer& data, int source, int tag)
      : PartitionedReceiver(data, source, tag) {
    if (null()) return;
    prepare_request(setup_, RequestKind::kRecv, comm, source, tag, handed_);
    setup_.reset(*this);
    start_recv(setup_);
  }

  Err start(Request& request) override {
    if (null()) {
      request.complete();
      return kOk;
    }
    begin_round();
    lock_.lock();
    started_ = &request;
    const LinkPointer link = link_;
    lock_.unlock();
    if (link != nullptr) link->open_recv(*this, request);
    return kOk;
  }

  Err retire(Request&) override {
    if (null()) return kOk;
    TMPI_TRY(tmpi::mpi::cancel(setup_));
    while (!set_up()) cpu_relax();  // matched this very moment: proceed() has yet to come to its end
    return kOk;
  }

  using PartitionedReceiver::expect;
  // Takes bytes [offset, offset + length) of the sender's buffer. Any thread.
  void take(const Side& from, MPI_Count offset, MPI_Count length) noexcept {
    const MPI_Count end = std::min(offset + length, side_.bytes());
    if (offset < end) copy_range(side_, from, offset, end - offset);
    count(offset, end);
  }

 private:
  bool set_up() noexcept {
    lock_.lock();
    const bool result = set_up_;
    lock_.unlock();
    return result;
  }

  // The link is here, or will never be (cancelled). `this` may be gone once the lock is open and the request,
  // if it has been started, complete.
  void proceed() noexcept override {
    LinkPointer link;
    if (!setup_.cancelled) {
      link = *handed_;
      delete handed_;
    }
    lock_.lock();
    link_ = link;
    set_up_ = true;
    Request* const request = started_;
    lock_.unlock();
    if (link != nullptr && request != nullptr) link->open_recv(*this, *request);
  }

  LinkPointer* handed_ = nullptr;
  Request setup_;
  SpinLock lock_;  // for what follows
  LinkPointer link_;
  bool set_up_ = false;
  Request* started_ = nullptr;  // the first round may be started before the link is here
};

void Link::open_recv(PartitionedRecv& recv, Request& request) noexcept {
  recv.expect(send_.partitions());
  lock_.lock();
  recv_ = &recv;
  receiver_ = &request;
  lock_.unlock();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (advance(i, State::kReady)) move(i);
  }
  count_down();
}

void Link::move(std::size_t i) noexcept {
  const MPI_Count bytes = send_.partition_bytes();
  recv_->take(send_, static_cast<MPI_Count>(i) * bytes, bytes);
  count_down();
}

void Link::count_down() noexcept {
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  lock_.lock();
  Request* const sender = sender_;
  Request* const receiver = receiver_;
  sender_ = receiver_ = nullptr;
  left_.store(send_.partitions() + 2, std::memory_order_relaxed);
  const MPI_Count bytes = send_.bytes();
  lock_.unlock();
  // Either side may begin the next round, or go away, as soon as its request is complete.
  receiver->bytes = bytes;
  receiver->complete();
  sender->complete();
}

bool elsewhere(const Comm& comm, int peer) noexcept {
  return peer != MPI_PROC_NULL && process(comm, peer) == nullptr;
}

}  // namespace

Err PartitionedSender::outcome(Request&, MPI_Status* status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  return kOk;
}

Err PartitionedSender::check_range(int low, int high) const {
  if (low >= 0 && high < side_.partitions() && low <= high) return kOk;
  return fail(MPI_ERR_ARG, "partitions {} to {}: the send has partitions 0 to {}", low, high,
              side_.partitions() - 1);
}

Err PartitionedSender::ready_before(int low, int high) {
  return fail(MPI_ERR_ARG, "a partition of {} to {} has been marked ready before in this round", low, high);
}

Err PartitionedReceiver::outcome(Request& request, MPI_Status* status) {
  if (null()) {
    set_proc_null_status(status);
    return kOk;
  }
  set_status(status, source_, tag_, std::min(request.bytes, side_.bytes()));
  if (request.bytes <= side_.bytes()) return kOk;
  return fail(MPI_ERR_TRUNCATE,
              "the partitioned message from rank {} with tag {} has {} bytes, but the receive was "
              "initialized with {} partitions of {} bytes; the rest was dropped",
              source_, tag_, request.bytes, side_.partitions(), side_.partition_bytes());
}

Err PartitionedReceiver::arrived(const Request& request, int partition, bool& flag) const {
  if (partition < 0 || partition >= side_.partitions())
    return fail(MPI_ERR_ARG, "partition is {}: the receive has partitions 0 to {}", partition,
                side_.partitions() - 1);
  const MPI_Count bytes = side_.partition_bytes();
  // acquire pairs with count(): the caller sees the data.
  flag =
      request.done() ||
      (bytes > 0 && arrived_[static_cast<std::size_t>(partition)].load(std::memory_order_acquire) == bytes);
  return kOk;
}

void PartitionedReceiver::begin_round() noexcept {
  for (auto& bytes : arrived_) bytes.store(0, std::memory_order_relaxed);
}

void PartitionedReceiver::count(MPI_Count offset, MPI_Count end) noexcept {
  // The last piece is there when the request is complete: who knows of it by MPI_Parrived finds that MPI_Test knows of it,
  // too. Not after the request, which lets the next round begin.
  if (to_come_.fetch_sub(1, std::memory_order_relaxed) == 1 || offset >= end) return;
  const MPI_Count unit = side_.partition_bytes();
  for (MPI_Count partition = offset / unit; partition * unit < end; ++partition) {
    const MPI_Count first = std::max(offset, partition * unit), last = std::min(end, (partition + 1) * unit);
    arrived_[static_cast<std::size_t>(partition)].fetch_add(last - first, std::memory_order_release);
  }
}

Request& create_partitioned_send(Comm& comm, const PartitionedBuffer& data, int dest, int tag) {
  if (elsewhere(comm, dest)) [[unlikely]]
    return create_request(&comm, make_remote_partitioned_send(comm, data, dest, tag), true);
  return create_request(&comm, std::make_unique<PartitionedSend>(comm, data, dest, tag), true);
}

Request& create_partitioned_recv(Comm& comm, const PartitionedBuffer& data, int source, int tag) {
  if (elsewhere(comm, source)) [[unlikely]]
    return create_request(&comm, make_remote_partitioned_recv(comm, data, source, tag), true);
  return create_request(&comm, std::make_unique<PartitionedRecv>(comm, data, source, tag), true);
}

Err partitions_ready(Request* request, int low, int high) {
  auto* send = request == nullptr ? nullptr : dynamic_cast<PartitionedSender*>(request->extension.get());
  if (send == nullptr)
    return fail(MPI_ERR_REQUEST, "the request is no partitioned send (MPI_Psend_init returns them)");
  if (!request->active)
    return fail(MPI_ERR_REQUEST, "the partitioned send has not been started: call MPI_Start first");
  return send->ready(low, high);
}

Err partition_arrived(Request* request, int partition, bool& arrived) {
  arrived = true;
  if (request == nullptr) return kOk;
  const auto* recv = dynamic_cast<PartitionedReceiver*>(request->extension.get());
  if (recv == nullptr)
    return fail(MPI_ERR_REQUEST, "the request is no partitioned receive (MPI_Precv_init returns them)");
  bool flag = true;
  TMPI_TRY(recv->arrived(*request, partition, flag));
  arrived = flag || !request->active;
  return kOk;
}

}  // namespace tmpi::mpi
