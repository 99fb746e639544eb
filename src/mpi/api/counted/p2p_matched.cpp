// Receiving the message that a matched probe has found. MPI report, 3.8.3.
#include "mpi/api/counted/counted.hpp"
#include "mpi/datatype/check.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/transfer.hpp"
#include "mpi/p2p/turn.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

// The matched message of a handle, null for MPI_MESSAGE_NO_PROC. Nothing behind the handle is looked at: what has been
// received may be gone.
Err message_from(Rank& rank, MPI_Message handle, Message*& message) {
  message = nullptr;
  if (handle == MPI_MESSAGE_NO_PROC) return kOk;
  if (handle == MPI_MESSAGE_NULL) {
    return fail(MPI_ERR_REQUEST,
                "the message is MPI_MESSAGE_NULL: a probe has found none, or it has been received already");
  }
  Message** place = &rank.matched;
  while (*place != nullptr && *place != reinterpret_cast<const Message*>(handle)) place = &(*place)->next;
  if (*place == nullptr) {
    return fail(MPI_ERR_REQUEST,
                "{} is no matched message: use the one that MPI_Mprobe or MPI_Improbe returned, once",
                static_cast<const void*>(handle));
  }
  message = *place;
  *place = message->next;
  message->next = nullptr;
  return kOk;
}

// The communicator of a matched receive is not an argument; errors are raised on that of the rank
// (MPI_COMM_WORLD), and so is the request.
void describe_mrecv(Request& request, Rank& rank, void* buf, MPI_Count count, const Datatype& type) noexcept {
  request.kind = RequestKind::kMrecv;
  request.buffer = buf;
  request.count = count;
  request.type = &type;
  request.comm = &rank.world;
}

// True if the data is there; else the request completes when it is.
bool receive_matched(Request& request, Message* message) noexcept {
  if (message != nullptr) return accept(request, *message);
  request.source = MPI_PROC_NULL;
  request.received_tag = MPI_ANY_TAG;
  return true;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Mrecv)(void* buf, Count count, MPI_Datatype datatype, MPI_Message* message,
                        MPI_Status* status) {
  return on_rank(TMPI_COUNTED_NAME(Mrecv), [&](Rank& rank) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(buf, count, datatype, type));
    TMPI_TRY(check_pointer(message, "message"));
    Message* matched;
    TMPI_TRY(message_from(rank, *message, matched));
    Request request;
    describe_mrecv(request, rank, buf, count, *type);
    if (receive_matched(request, matched)) {
      found_at_once(rank);
    } else {
      wait(request);
    }
    *message = MPI_MESSAGE_NULL;
    return receive_outcome(request, status);
  });
}
TMPI_COUNTED_PROFILED(Mrecv);

int TMPI_COUNTED(Imrecv)(void* buf, Count count, MPI_Datatype datatype, MPI_Message* message,
                         MPI_Request* request) {
  return on_rank(TMPI_COUNTED_NAME(Imrecv), [&](Rank& rank) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(buf, count, datatype, type));
    TMPI_TRY(check_pointer(message, "message"));
    TMPI_TRY(check_pointer(request, "request"));
    Message* matched;
    TMPI_TRY(message_from(rank, *message, matched));
    Request& created = create_request(rank.world, {RequestKind::kMrecv, SendMode::kStandard, buf, count, type,
                                                   MPI_ANY_SOURCE, MPI_ANY_TAG});
    if (receive_matched(created, matched)) created.complete();
    *message = MPI_MESSAGE_NULL;
    *request = handle_of(created);
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Imrecv);
