// Probe and matched probe. MPI report, 3.8.
#include "mpi/api/profiled.hpp"
#include "mpi/core/call.hpp"
#include "mpi/core/check.hpp"
#include "mpi/core/status.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/probe.hpp"
#include "mpi/p2p/transfer.hpp"

namespace tmpi::mpi {
namespace {

Err check_probe(const Comm& comm, int source, int tag) {
  TMPI_TRY(check_source(comm, source));
  return check_recv_tag(tag);
}

void set_probe_status(MPI_Status* status, const Envelope& envelope) noexcept {
  set_status(status, envelope.source, envelope.tag, envelope.bytes);
}

MPI_Message handle_of(Message& message) noexcept {
  return reinterpret_cast<MPI_Message>(&message);
}

// The matched message of a handle, null for MPI_MESSAGE_NO_PROC.
Err message_from(MPI_Message handle, Message*& message) {
  message = nullptr;
  if (handle == MPI_MESSAGE_NO_PROC) return kOk;
  if (reinterpret_cast<std::uintptr_t>(handle) < 4096) {
    return fail(MPI_ERR_REQUEST,
                "{} is no matched message: use the one that MPI_Mprobe or MPI_Improbe returned, once",
                static_cast<const void*>(handle));
  }
  message = reinterpret_cast<Message*>(handle);
  return kOk;
}

// A probe that found nothing lets the others run and looks once more.
template <class Look>
bool look_twice(Look&& look) {
  if (look()) return true;
  sched::yield();
  return look();
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

void receive_matched(Request& request, Message* message) noexcept {
  if (message != nullptr) {
    accept(request, *message);
  } else {
    request.source = MPI_PROC_NULL;
    request.received_tag = MPI_ANY_TAG;
  }
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return on_comm("MPI_Probe", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_probe(c, source, tag));
    Envelope envelope;
    if (source != MPI_PROC_NULL) probe(c, source, tag, envelope);
    set_probe_status(status, envelope);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Probe);

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return on_comm("MPI_Iprobe", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_probe(c, source, tag));
    TMPI_TRY(check_pointer(flag, "flag"));
    Envelope envelope;
    *flag = source == MPI_PROC_NULL || look_twice([&] { return iprobe(c, source, tag, envelope); });
    if (*flag) set_probe_status(status, envelope);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Iprobe);

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return on_comm("MPI_Mprobe", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_probe(c, source, tag));
    TMPI_TRY(check_pointer(message, "message"));
    Envelope envelope;
    *message = source == MPI_PROC_NULL ? MPI_MESSAGE_NO_PROC : handle_of(*mprobe(c, source, tag, envelope));
    set_probe_status(status, envelope);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Mprobe);

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  return on_comm("MPI_Improbe", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_probe(c, source, tag));
    TMPI_TRY(check_pointer(flag, "flag"));
    TMPI_TRY(check_pointer(message, "message"));
    Envelope envelope;
    Message* found = nullptr;
    *flag = source == MPI_PROC_NULL ||
            look_twice([&] { return (found = improbe(c, source, tag, envelope)) != nullptr; });
    if (*flag) {
      *message = found != nullptr ? handle_of(*found) : MPI_MESSAGE_NO_PROC;
      set_probe_status(status, envelope);
    } else {
      *message = MPI_MESSAGE_NULL;
    }
    return kOk;
  });
}
TMPI_PROFILED(MPI_Improbe);

int PMPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  return on_rank("MPI_Mrecv", [&](Rank& rank) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(buf, count, datatype, type));
    TMPI_TRY(check_pointer(message, "message"));
    Message* matched;
    TMPI_TRY(message_from(*message, matched));
    Request request;
    describe_mrecv(request, rank, buf, count, *type);
    receive_matched(request, matched);
    *message = MPI_MESSAGE_NULL;
    return receive_outcome(request, status);
  });
}
TMPI_PROFILED(MPI_Mrecv);

int PMPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
  return on_rank("MPI_Imrecv", [&](Rank& rank) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(buf, count, datatype, type));
    TMPI_TRY(check_pointer(message, "message"));
    TMPI_TRY(check_pointer(request, "request"));
    Message* matched;
    TMPI_TRY(message_from(*message, matched));
    Request& created = create_request(rank.world, {RequestKind::kMrecv, SendMode::kStandard, buf, count, type,
                                                   MPI_ANY_SOURCE, MPI_ANY_TAG});
    receive_matched(created, matched);
    created.complete();
    *message = MPI_MESSAGE_NULL;
    *request = tmpi::mpi::handle_of(created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Imrecv);
