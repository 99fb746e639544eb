// Connections between ranks that share no communicator: ports, published names, sockets. MPI report, 11.9 and 11.10.
#include "mpi/create/ports.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::mpi {
namespace {

// The info key tmpi_scope: is something for all of the user's jobs, as without it, or for this job alone? Other hints are
// passed over, but must be hints.
Err read_scope(MPI_Info handle, bool& wide) {
  const Info* info;
  TMPI_TRY(hints_from(handle, info));
  const std::string* given = info->find("tmpi_scope");
  wide = given == nullptr || *given == "user";
  if (wide || *given == "job") return kOk;
  return fail(MPI_ERR_INFO_VALUE, "the info key tmpi_scope is \"{}\": it must be job or user", *given);
}

// The info key timeout, in seconds; 0: none.
Err read_timeout(MPI_Info handle, double& seconds) {
  const Info* info;
  TMPI_TRY(hints_from(handle, info));
  const std::string* given = info->find("timeout");
  if (given == nullptr) return kOk;
  const char* const end = given->data() + given->size();
  const auto [rest, error] = std::from_chars(given->data(), end, seconds);
  if (error == std::errc() && rest == end && seconds > 0) return kOk;
  return fail(MPI_ERR_INFO_VALUE, "the info key timeout is \"{}\": it must be a number of seconds", *given);
}

Err check_port(const char* port) {
  TMPI_TRY(check_pointer(port, "port_name"));
  if (std::string_view(port).size() >= MPI_MAX_PORT_NAME)
    return fail(MPI_ERR_PORT, "port_name has {} characters: a port's name has less than MPI_MAX_PORT_NAME",
                std::string_view(port).size());
  return kOk;
}

void copy_out(const std::string& port, char* out) {
  *std::copy_n(port.begin(), std::min<std::size_t>(port.size(), MPI_MAX_PORT_NAME - 1), out) = '\0';
}

int accept_or_connect_with(const char* name, bool accepts, const char* port, MPI_Info info, int root,
                           MPI_Comm comm, MPI_Comm* newcomm) {
  return on_collective(name, comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    if (c.inter())
      return fail(MPI_ERR_COMM, "comm is an intercommunicator, but must be an intracommunicator");
    if (root < 0 || root >= c.size)
      return fail(MPI_ERR_ROOT, "root is {}, but the communicator has ranks 0 to {}", root, c.size - 1);
    PortWish wish;
    wish.accepts = accepts;
    if (c.rank == root) {
      Err error = check_port(port);
      if (!error) error = read_timeout(info, wish.timeout);
      if (error) {
        wish.error = error.error_class();
        wish.why = take_explanation();
      } else {
        wish.port = port;
      }
    }
    *newcomm = MPI_COMM_NULL;
    Comm* created = nullptr;
    TMPI_TRY(accept_or_connect(c, root, wish, created));
    *newcomm = created->handle;
    return kOk;
  });
}

// A call about a published name.
template <class Body>
int on_name(const char* call, const char* name, MPI_Info info, Body&& body) {
  return on_rank(call, [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(name, "service_name"));
    bool wide;
    TMPI_TRY(read_scope(info, wide));
    return body(rank, wide);
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;
using Kind = PortCall::Kind;

int PMPI_Open_port(MPI_Info info, char* port_name) {
  return on_rank("MPI_Open_port", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(port_name, "port_name"));
    bool wide;
    TMPI_TRY(read_scope(info, wide));
    PortAnswer answer;
    TMPI_TRY(ask_ports(rank, {.kind = Kind::kOpen, .port = {}, .name = {}, .wide = wide}, answer));
    copy_out(answer.port, port_name);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Open_port);

int PMPI_Close_port(const char* port_name) {
  return on_rank("MPI_Close_port", [&](Rank& rank) -> Err {
    TMPI_TRY(check_port(port_name));
    PortAnswer answer;
    return ask_ports(rank, {.kind = Kind::kClose, .port = port_name, .name = {}}, answer);
  });
}
TMPI_PROFILED(MPI_Close_port);

int PMPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return accept_or_connect_with("MPI_Comm_accept", true, port_name, info, root, comm, newcomm);
}
TMPI_PROFILED(MPI_Comm_accept);

int PMPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return accept_or_connect_with("MPI_Comm_connect", false, port_name, info, root, comm, newcomm);
}
TMPI_PROFILED(MPI_Comm_connect);

int PMPI_Comm_join(int fd, MPI_Comm* intercomm) {
  return on_rank("MPI_Comm_join", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(intercomm, "intercomm"));
    *intercomm = MPI_COMM_NULL;
    Comm* created = nullptr;
    TMPI_TRY(join(rank, fd, created));
    if (created != nullptr) *intercomm = created->handle;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_join);

int PMPI_Publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  return on_name("MPI_Publish_name", service_name, info, [&](Rank& rank, bool wide) -> Err {
    TMPI_TRY(check_port(port_name));
    PortAnswer answer;
    return ask_ports(rank, {.kind = Kind::kPublish, .port = port_name, .name = service_name, .wide = wide},
                     answer);
  });
}
TMPI_PROFILED(MPI_Publish_name);

int PMPI_Unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  return on_name("MPI_Unpublish_name", service_name, info, [&](Rank& rank, bool) -> Err {
    TMPI_TRY(check_port(port_name));
    PortAnswer answer;
    return ask_ports(rank, {.kind = Kind::kUnpublish, .port = port_name, .name = service_name}, answer);
  });
}
TMPI_PROFILED(MPI_Unpublish_name);

int PMPI_Lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  return on_name("MPI_Lookup_name", service_name, info, [&](Rank& rank, bool wide) -> Err {
    TMPI_TRY(check_pointer(port_name, "port_name"));
    PortAnswer answer;
    TMPI_TRY(
        ask_ports(rank, {.kind = Kind::kLookup, .port = {}, .name = service_name, .wide = wide}, answer));
    copy_out(answer.port, port_name);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Lookup_name);
