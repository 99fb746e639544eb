// Receives and probes with wildcards, and tests whether a message is there. MPI report, 3.2.4, 3.8.1, 3.8.2.
#include <functional>

#include "mpi/rank/call.hpp"
#include "mpi/request/request.hpp"
#include "mpix.h"
#include "replay/explored_log.hpp"
#include "replay/logs.hpp"

namespace tmpi::replay {
namespace {

template <class Count, auto kNext>
int recv(void* buffer, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  const OpenLog log = log_of_receive(source, tag);
  if (!log) return kNext(buffer, count, type, source, tag, comm, status);
  Receiving receiving(*log, ChoiceKind::kReceive, "MPI_Recv", {source, tag}, comm, true, status);
  return receiving.returned(
      kNext(buffer, count, type, receiving.source(), receiving.tag(), comm, receiving.status()));
}

template <class Count, auto kNext>
int sendrecv(const void* out, Count out_count, MPI_Datatype out_type, int dest, int out_tag, void* in,
             Count in_count, MPI_Datatype in_type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const OpenLog log = log_of_receive(source, tag);
  if (!log)
    return kNext(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, tag, comm, status);
  Receiving receiving(*log, ChoiceKind::kReceive, "MPI_Sendrecv", {source, tag}, comm, true, status);
  return receiving.returned(kNext(out, out_count, out_type, dest, out_tag, in, in_count, in_type,
                                  receiving.source(), receiving.tag(), comm, receiving.status()));
}

template <class Count, auto kNext>
int sendrecv_replace(void* buffer, Count count, MPI_Datatype type, int dest, int out_tag, int source, int tag,
                     MPI_Comm comm, MPI_Status* status) {
  const OpenLog log = log_of_receive(source, tag);
  if (!log) return kNext(buffer, count, type, dest, out_tag, source, tag, comm, status);
  Receiving receiving(*log, ChoiceKind::kReceive, "MPI_Sendrecv_replace", {source, tag}, comm, true, status);
  return receiving.returned(kNext(buffer, count, type, dest, out_tag, receiving.source(), receiving.tag(),
                                  comm, receiving.status()));
}

/// The numbers of a receive that is about to be posted; `wanted` becomes what it is to ask for.
OpenReceive number(RankLog& log, MPI_Comm comm, Envelope& wanted) {
  const Envelope asked = wanted;
  OpenReceive receive;
  if (ExploredLog* const explored_log = log.explored_log()) {
    explored_log->narrow(wanted);
    receive.explored = explored_log->ask(context_of(comm), asked, true);
  }
  if (is_wild(asked.source, asked.tag)) receive.wild = log.post(wanted);
  return receive;
}

/// A nonblocking receive that is to be noted: `start(source, tag)` posts it and gives its request.
template <class Start>
int post(RankLog& log, Envelope wanted, MPI_Comm comm, MPI_Request* request, Start&& start) {
  const OpenReceive receive = number(log, comm, wanted);
  const int result = start(wanted.source, wanted.tag);
  if (result == MPI_SUCCESS) log.posted(*request, receive);
  return result;
}

template <class Count, auto kNext>
int irecv(void* buffer, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Request* request) {
  const OpenLog log = log_of_receive(source, tag);
  if (!log) return kNext(buffer, count, type, source, tag, comm, request);
  return post(*log, {source, tag}, comm, request,
              [&](int from, int with) { return kNext(buffer, count, type, from, with, comm, request); });
}

template <class Count, auto kNext>
int isendrecv(const void* out, Count out_count, MPI_Datatype out_type, int dest, int out_tag, void* in,
              Count in_count, MPI_Datatype in_type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const OpenLog log = log_of_receive(source, tag);
  if (!log)
    return kNext(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, tag, comm, request);
  return post(*log, {source, tag}, comm, request, [&](int from, int with) {
    return kNext(out, out_count, out_type, dest, out_tag, in, in_count, in_type, from, with, comm, request);
  });
}

template <class Count, auto kNext>
int isendrecv_replace(void* buffer, Count count, MPI_Datatype type, int dest, int out_tag, int source,
                      int tag, MPI_Comm comm, MPI_Request* request) {
  const OpenLog log = log_of_receive(source, tag);
  if (!log) return kNext(buffer, count, type, dest, out_tag, source, tag, comm, request);
  return post(*log, {source, tag}, comm, request, [&](int from, int with) {
    return kNext(buffer, count, type, dest, out_tag, from, with, comm, request);
  });
}

template <class Count, auto kNext>
int recv_init(void* buffer, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int result = kNext(buffer, count, type, source, tag, comm, request);
  const OpenLog log = log_of_receive(source, tag);
  if (log && result == MPI_SUCCESS) log->persistent()[*request] = {{source, tag}, comm};
  return result;
}

/// A persistent receive with a wildcard is a new one each time it is started.
void prepare_start(RankLog& log, MPI_Request request) {
  const auto found = log.persistent().find(request);
  if (found == log.persistent().end()) return;
  Envelope wanted = found->second.envelope;
  log.posted(request, number(log, found->second.comm, wanted));
  auto& started = *reinterpret_cast<mpi::Request*>(request);
  started.peer = wanted.source;
  started.tag = wanted.tag;
}

void prepare_starts(int count, const MPI_Request* requests) {
  const OpenLog log = log_of_caller();
  if (!log || requests == nullptr || log->persistent().empty()) return;
  for (int i = 0; i < count; ++i) prepare_start(*log, requests[i]);
}

int start(MPI_Request* request) {
  prepare_starts(1, request);
  return PMPI_Start(request);
}

int startall(int count, MPI_Request* requests) {
  prepare_starts(count, requests);
  return PMPI_Startall(count, requests);
}

void forget(const MPI_Request* request) {
  const OpenLog log = log_of_caller();
  if (!log || request == nullptr) return;
  log->forget(*request);
  log->persistent().erase(*request);
}

int request_free(MPI_Request* request) {
  forget(request);
  return PMPI_Request_free(request);
}

int probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const OpenLog log = log_of_receive(source, tag);
  if (!log) return PMPI_Probe(source, tag, comm, status);
  Receiving receiving(*log, ChoiceKind::kProbe, "MPI_Probe", {source, tag}, comm, false, status);
  return receiving.returned(PMPI_Probe(receiving.source(), receiving.tag(), comm, receiving.status()));
}

int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  const OpenLog log = log_of_receive(source, tag);
  if (!log) return PMPI_Mprobe(source, tag, comm, message, status);
  Receiving receiving(*log, ChoiceKind::kProbe, "MPI_Mprobe", {source, tag}, comm, true, status);
  return receiving.returned(
      PMPI_Mprobe(receiving.source(), receiving.tag(), comm, message, receiving.status()));
}

/// A number for what a probe asks for.
const void* asks_for(Envelope asked, MPI_Comm comm) {
  const auto words = static_cast<std::uint64_t>(static_cast<unsigned>(asked.source)) << 32 |
                     static_cast<unsigned>(asked.tag);
  return reinterpret_cast<const void*>(std::hash<std::uint64_t>{}(words)*31 +
                                       reinterpret_cast<std::uintptr_t>(comm) + 1);
}

/// Both calls that say whether a message is there. `look(source, tag, status)`: now; `wait` likewise: until it is.
template <class Look, class Wait>
int look_for(RankLog& log, const char* call, Envelope asked, MPI_Comm comm, bool takes, int* flag,
             MPI_Status* status, Look&& look, Wait&& wait) {
  const bool noted = is_wild(asked.source, asked.tag) || log.explored_log() != nullptr;
  const Answer answer = log.poll(call, asked.source == MPI_PROC_NULL ? nullptr : asks_for(asked, comm));
  if (answer == Answer::kNo) {
    *flag = 0;
    log.polled(false, call);
    return PMPIX_Yield();
  }
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  if (answer == Answer::kFree) {
    Envelope wanted = asked;
    if (log.explored_log() != nullptr) log.explored_log()->narrow(wanted);
    *flag = 0;
    const int result = look(wanted.source, wanted.tag, status);
    log.polled(*flag != 0 || result != MPI_SUCCESS, call);
    if (result != MPI_SUCCESS) return result;
    if (*flag != 0 && noted)
      return Receiving(log, ChoiceKind::kProbe, call, asked, comm, takes, status).returned(result);
    return result;
  }
  log.polled(true, call);
  *flag = 1;
  if (!noted) return wait(asked.source, asked.tag, status);
  if (log.explored_log() == nullptr && !log.next_is(ChoiceKind::kProbe))  // it was refused
    return look(asked.source, asked.tag, status);
  Receiving receiving(log, ChoiceKind::kProbe, call, asked, comm, takes, status);
  return receiving.returned(wait(receiving.source(), receiving.tag(), receiving.status()));
}

int iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const OpenLog log = flag == nullptr ? OpenLog() : log_of_caller();
  if (!log) return PMPI_Iprobe(source, tag, comm, flag, status);
  return look_for(
      *log, "MPI_Iprobe", {source, tag}, comm, false, flag, status,
      [&](int from, int with, MPI_Status* found) { return PMPI_Iprobe(from, with, comm, flag, found); },
      [&](int from, int with, MPI_Status* found) { return PMPI_Probe(from, with, comm, found); });
}

int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  const OpenLog log = flag == nullptr ? OpenLog() : log_of_caller();
  if (!log) return PMPI_Improbe(source, tag, comm, flag, message, status);
  return look_for(
      *log, "MPI_Improbe", {source, tag}, comm, true, flag, status,
      [&](int from, int with, MPI_Status* found) {
        return PMPI_Improbe(from, with, comm, flag, message, found);
      },
      [&](int from, int with, MPI_Status* found) { return PMPI_Mprobe(from, with, comm, message, found); });
}

}  // namespace

const std::vector<Version>& receives() {
  static const std::vector<Version> all{
      version("MPI_Recv", &recv<int, &PMPI_Recv>),
      version("MPI_Recv_c", &recv<MPI_Count, &PMPI_Recv_c>),
      version("MPI_Sendrecv", &sendrecv<int, &PMPI_Sendrecv>),
      version("MPI_Sendrecv_c", &sendrecv<MPI_Count, &PMPI_Sendrecv_c>),
      version("MPI_Sendrecv_replace", &sendrecv_replace<int, &PMPI_Sendrecv_replace>),
      version("MPI_Sendrecv_replace_c", &sendrecv_replace<MPI_Count, &PMPI_Sendrecv_replace_c>),
      version("MPI_Irecv", &irecv<int, &PMPI_Irecv>),
      version("MPI_Irecv_c", &irecv<MPI_Count, &PMPI_Irecv_c>),
      version("MPI_Isendrecv", &isendrecv<int, &PMPI_Isendrecv>),
      version("MPI_Isendrecv_c", &isendrecv<MPI_Count, &PMPI_Isendrecv_c>),
      version("MPI_Isendrecv_replace", &isendrecv_replace<int, &PMPI_Isendrecv_replace>),
      version("MPI_Isendrecv_replace_c", &isendrecv_replace<MPI_Count, &PMPI_Isendrecv_replace_c>),
      version("MPI_Recv_init", &recv_init<int, &PMPI_Recv_init>),
      version("MPI_Recv_init_c", &recv_init<MPI_Count, &PMPI_Recv_init_c>),
      version("MPI_Start", &start),
      version("MPI_Startall", &startall),
      version("MPI_Request_free", &request_free),
      version("MPI_Probe", &probe),
      version("MPI_Mprobe", &mprobe),
      version("MPI_Iprobe", &iprobe),
      version("MPI_Improbe", &improbe),
  };
  return all;
}

}  // namespace tmpi::replay
