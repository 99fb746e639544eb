// Probe and matched probe. Receiving what a matched probe found: counted/p2p_matched.cpp. MPI report, 3.8.
#include "mpi/api/profiled.hpp"
#include "mpi/base/status.hpp"
#include "mpi/comm/check.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/probe.hpp"
#include "mpi/p2p/turn.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

Err check_probe(const Comm& comm, int source, int tag) {
  TMPI_TRY(check_source(comm, source));
  return check_recv_tag(tag);
}

void set_probe_status(MPI_Status* status, const Envelope& envelope) noexcept {
  set_status(status, envelope.source, envelope.tag, envelope.bytes);
}

MPI_Message message_of(Rank& rank, Message& message) noexcept {
  message.next = rank.matched;
  rank.matched = &message;
  return reinterpret_cast<MPI_Message>(&message);
}

// A probe that found nothing lets the others run and looks once more.
template <class Look>
bool look_twice(Rank& rank, Look&& look) {
  if (look()) {
    found_at_once(rank);
    return true;
  }
  sched::yield_polling();
  return look();
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
    *flag = source == MPI_PROC_NULL || look_twice(*c.owner, [&] { return iprobe(c, source, tag, envelope); });
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
    *message = source == MPI_PROC_NULL ? MPI_MESSAGE_NO_PROC
                                       : message_of(*c.owner, *mprobe(c, source, tag, envelope));
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
            look_twice(*c.owner, [&] { return (found = improbe(c, source, tag, envelope)) != nullptr; });
    if (*flag) {
      *message = found != nullptr ? message_of(*c.owner, *found) : MPI_MESSAGE_NO_PROC;
      set_probe_status(status, envelope);
    } else {
      *message = MPI_MESSAGE_NULL;
    }
    return kOk;
  });
}
TMPI_PROFILED(MPI_Improbe);
