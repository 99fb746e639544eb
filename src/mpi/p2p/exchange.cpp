#include "mpi/p2p/exchange.hpp"

#include <atomic>
#include <memory>
#include <new>

#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"

namespace tmpi::mpi {
namespace {

void prepare_request(Request& request, RequestKind kind, Comm& comm, const ExchangeSide& side) {
  request.kind = kind;
  request.comm = &comm;
  request.context = comm.context;
  request.buffer = const_cast<void*>(side.buffer);
  request.count = side.count;
  request.type = &side.type;
  request.peer = side.peer;
  request.tag = side.tag;
  side.type.retain();
}

class Exchange final : public RequestExtension, private Continuation {
 public:
  using Copy = std::unique_ptr<std::byte[]>;

  Exchange(Comm& comm, const ExchangeSide& send, const ExchangeSide& recv, Copy copy = nullptr)
      : copy_(std::move(copy)) {
    prepare_request(send_, RequestKind::kSend, comm, send);
    prepare_request(recv_, RequestKind::kRecv, comm, recv);
  }
  ~Exchange() override {
    send_.type->release();
    recv_.type->release();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Err start(Request& request) override {
    whole_ = &request;
    recv_.reset(*this);
    start_recv(recv_);
    send_.reset(*this);
    start_send(send_);
    // Not sent: who is to send to us may do so only after it has received from us.
    withdrawn_ = send_.done() && send_.error != MPI_SUCCESS && withdraw_receive(recv_);
    if (withdrawn_) [[unlikely]]
      recv_.complete_here();
    return kOk;
  }
  Err outcome(Request& request, MPI_Status* status) override {
    request.source = recv_.source;
    request.received_tag = recv_.received_tag;
    const Err received = receive_outcome(recv_, status);  // an empty status if it has been withdrawn
    if (send_.error == MPI_SUCCESS) return received;
    return withdrawn_ ? not_sent(send_.peer) : received_but_not_sent(recv_.source, send_.peer);
  }

 private:
  // acq_rel: the second to finish sees what the first has written.
  void proceed() noexcept override {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) whole_->complete();
  }

  Request send_, recv_;
  Request* whole_ = nullptr;
  std::atomic<int> left_{2};
  bool withdrawn_ = false;  ///< the receive, since nothing was sent
  Copy copy_;
};

}  // namespace

Request& start_exchange(Comm& comm, const ExchangeSide& send, const ExchangeSide& recv) {
  Request& request = create_request(&comm, std::make_unique<Exchange>(comm, send, recv), false);
  (void)start(request).error_class();  // Exchange::start cannot fail
  return request;
}

Err start_exchange_replace(Comm& comm, const ExchangeSide& recv, int dest, int sendtag, Request*& request) {
  const MPI_Count bytes = recv.count * recv.type.size();
  Exchange::Copy copy(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (copy == nullptr)
    return fail(MPI_ERR_NO_MEM, "no memory for a copy of {} bytes; use MPI_Isendrecv with two buffers",
                bytes);
  pack_segment(copy.get(), recv.buffer, recv.count, recv.type, 0, bytes);
  const ExchangeSide send{copy.get(), bytes, *datatype_from(MPI_BYTE), dest, sendtag};
  request = &create_request(&comm, std::make_unique<Exchange>(comm, send, recv, std::move(copy)), false);
  return start(*request);
}

}  // namespace tmpi::mpi
