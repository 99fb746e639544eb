// Partitioned operations between ranks of two nodes. The sender makes a context for the operation and tells
// the receiver how its buffer is divided, by a message when they are initialized. In each round a partition
// is a message of that context as soon as it is ready, its index the tag; the receiver posts one receive for
// each partition of the sender, into the place of its buffer where that lies.
#include <algorithm>

#include "base/spinlock.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/partitioned_sides.hpp"
#include "mpi/p2p/remote_calls.hpp"
#include "mpi/rank/new_context.hpp"

namespace tmpi::mpi {
namespace {

// What the sender tells the receiver, once.
struct Offer {
  ContextId context = 0;  ///< of the partitions' messages
  std::int64_t partitions = 0;
  std::int64_t partition_bytes = 0;
};

struct Where {
  Comm* comm;
  ContextId context;
  int peer;
  int tag;
};

void prepare_request(Request& request, RequestKind kind, const Where& where, void* buffer, MPI_Count count,
                     const Datatype& type) noexcept {
  request.kind = kind;
  request.comm = where.comm;
  request.context = where.context;
  request.peer = where.peer;
  request.tag = where.tag;
  request.buffer = buffer;
  request.count = count;
  request.type = &type;
}

const Datatype& bytes() noexcept {
  return *datatype_from(MPI_BYTE);
}

class RemoteSend final : public PartitionedSender, private Continuation {
 public:
  RemoteSend(Comm& comm, const PartitionedBuffer& data, int dest, int tag)
      : PartitionedSender(data),
        comm_(comm),
        dest_(dest),
        offer_{reserve_contexts(1, comm.shared->other_job != nullptr).first, side_.partitions(),
               side_.partition_bytes()},
        ready_(static_cast<std::size_t>(side_.partitions())),
        messages_(std::make_unique<Request[]>(static_cast<std::size_t>(side_.partitions()))) {
    prepare_request(setup_, RequestKind::kSend, {&comm, comm.context | kPartitioned, dest, tag}, &offer_,
                    sizeof offer_, bytes());
    start_send(setup_);
  }

  Err start(Request& request) override {
    std::fill(ready_.begin(), ready_.end(), false);
    whole_ = &request;
    left_.store(side_.partitions(), std::memory_order_relaxed);
    if (side_.partitions() == 0) request.complete();
    return kOk;
  }

  Err ready(int low, int high) override {
    TMPI_TRY(check_range(low, high));
    for (int i = low; i <= high; ++i) {
      if (ready_[static_cast<std::size_t>(i)]) return ready_before(low, high);
      ready_[static_cast<std::size_t>(i)] = true;
      Request& message = messages_[static_cast<std::size_t>(i)];
      auto* const first = static_cast<std::byte*>(side_.buffer()) + i * side_.count() * side_.type().extent();
      prepare_request(message, RequestKind::kSend, {&comm_, offer_.context, dest_, i}, first, side_.count(),
                      side_.type());
      message.reset(*this);
      start_send(message);
    }
    return kOk;
  }

  // Rounds that were started are over here before the receive is initialized if their messages are buffered:
  // the offer must then stay. Else nobody will match it.
  Err retire(Request&) override {
    if (whole_ == nullptr) TMPI_TRY(tmpi::mpi::cancel(setup_));
    wait(setup_);
    return kOk;
  }

 private:
  // acq_rel: the last one sees what the others have done.
  void proceed() noexcept override {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) whole_->complete();
  }

  Comm& comm_;
  const int dest_;
  Offer offer_;
  std::vector<char> ready_;  // calls of one rank come one at a time (rank/call.hpp, Frame)
  std::unique_ptr<Request[]> messages_;
  Request* whole_ = nullptr;  // of the latest round; null: none was ever started
  std::atomic<int> left_{0};  // of the round
  Request setup_;
};

class RemoteRecv final : public PartitionedReceiver, private Continuation {
 public:
  RemoteRecv(Comm& comm, const PartitionedBuffer& data, int source, int tag)
      : PartitionedReceiver(data, source, tag), comm_(comm), peer_(source) {
    prepare_request(setup_, RequestKind::kRecv, {&comm, comm.context | kPartitioned, source, tag}, &offer_,
                    sizeof offer_, bytes());
    setup_.reset(*this);
    start_recv(setup_);
  }

  Err start(Request& request) override {
    begin_round();
    lock_.lock();
    started_ = &request;
    const bool offered = set_up_;
    lock_.unlock();
    if (offered) post();
    return kOk;
  }

  Err retire(Request&) override {
    TMPI_TRY(tmpi::mpi::cancel(setup_));
    while (!set_up()) {  // matched this very moment, and perhaps nobody else looks at the network
      remote_calls()->poll();
      cpu_relax();
    }
    return kOk;
  }

 private:
  // The receive of one of the sender's partitions.
  struct Part final : Continuation {
    RemoteRecv* owner = nullptr;
    MPI_Count offset = 0, room = 0;
    std::unique_ptr<std::byte[]> packed;
    Request receive;
    void proceed() noexcept override { owner->part_done(*this); }
  };

  bool set_up() noexcept {
    lock_.lock();
    const bool result = set_up_;
    lock_.unlock();
    return result;
  }

  // The offer is here, or will never be (cancelled). `this` may be gone once the lock is open, unless a round
  // has been started.
  void proceed() noexcept override {
    const std::size_t partitions = setup_.cancelled ? 0 : static_cast<std::size_t>(offer_.partitions);
    auto parts = std::make_unique<Part[]>(partitions);
    lock_.lock();
    parts_ = std::move(parts);
    set_up_ = true;
    const bool started = started_ != nullptr && !setup_.cancelled;
    lock_.unlock();
    if (started) post();
  }

  void post() noexcept {
    const auto partitions = static_cast<int>(offer_.partitions);
    expect(partitions);
    left_.store(partitions + 1, std::memory_order_relaxed);
    for (int i = 0; i < partitions; ++i) post(parts_[static_cast<std::size_t>(i)], i);
    count_down();
  }

  void post(Part& part, int index) noexcept {
    part.owner = this;
    part.offset = index * offer_.partition_bytes;
    part.room = std::clamp<MPI_Count>(side_.bytes() - part.offset, 0, offer_.partition_bytes);
    if (!side_.contiguous() && part.packed == nullptr)
      part.packed = std::make_unique<std::byte[]>(static_cast<std::size_t>(part.room));
    void* const place = side_.contiguous() ? side_.at(part.offset) : part.packed.get();
    prepare_request(part.receive, RequestKind::kRecv, {&comm_, offer_.context, peer_, index}, place,
                    part.room, bytes());
    part.receive.reset(part);
    start_recv(part.receive);
  }

  void part_done(Part& part) noexcept {
    if (!side_.contiguous() && part.room > 0) side_.unpack(part.packed.get(), part.offset, part.room);
    count(part.offset, part.offset + part.room);
    count_down();
  }

  void count_down() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    Request* const request = std::exchange(started_, nullptr);
    request->bytes = offer_.partitions * offer_.partition_bytes;
    request->complete();  // the next round may begin, or this go away
  }

  Comm& comm_;
  const int peer_;
  Offer offer_;
  Request setup_;
  std::unique_ptr<Part[]> parts_;
  std::atomic<int> left_{0};  // parts of the round, and one until all are posted
  SpinLock lock_;             // for what follows
  bool set_up_ = false;
  Request* started_ = nullptr;
};

}  // namespace

std::unique_ptr<PartitionedSender> make_remote_partitioned_send(Comm& comm, const PartitionedBuffer& data,
                                                                int dest, int tag) {
  return std::make_unique<RemoteSend>(comm, data, dest, tag);
}

std::unique_ptr<PartitionedReceiver> make_remote_partitioned_recv(Comm& comm, const PartitionedBuffer& data,
                                                                  int source, int tag) {
  return std::make_unique<RemoteRecv>(comm, data, source, tag);
}

}  // namespace tmpi::mpi
