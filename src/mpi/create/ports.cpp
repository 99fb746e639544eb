#include "mpi/create/ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "mpi/base/no_memory.hpp"
#include "mpi/create/inter.hpp"
#include "mpi/create/socket_hello.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

using Kind = PortCall::Kind;

// A port of the calling rank that is closed again in any case.
class OwnPort {
 public:
  explicit OwnPort(Rank& rank) : rank_(rank) {}
  ~OwnPort() {
    if (name_.empty()) return;
    PortAnswer answer;
    (void)ask_ports(rank_, {.kind = Kind::kClose, .port = name_, .name = {}}, answer);
  }
  OwnPort(const OwnPort&) = delete;
  OwnPort& operator=(const OwnPort&) = delete;
  Err open() {
    PortAnswer answer;
    TMPI_TRY(ask_ports(rank_, {.kind = Kind::kOpen, .port = {}, .name = {}}, answer));
    name_ = std::move(answer.port);
    return kOk;
  }
  const std::string& name() const noexcept { return name_; }

 private:
  Rank& rank_;
  std::string name_;
};

}  // namespace

Err ask_ports(Rank& rank, const PortCall& call, PortAnswer& answer) {
  if (callbacks().ports == nullptr)
    return fail(MPI_ERR_UNSUPPORTED_OPERATION, "there are no ports without a launcher; use tmpirun");
  if (call.kind == Kind::kOpen || call.kind == Kind::kPublish) rank.has_ports = true;
  answer = callbacks().ports(rank, call);
  return answer.error == MPI_SUCCESS ? kOk : fail(answer.error, "{}", answer.why);
}

Err accept_or_connect(Comm& comm, int root, const PortWish& wish, Comm*& created) {
  if (comm.shared->other_job != nullptr)
    return fail(
        MPI_ERR_COMM,
        "the communicator has ranks of another job: only those of one job accept or connect together");
  return meet(
      comm, root,
      [&](Counterpart& counterpart) -> Err {
        if (wish.error != MPI_SUCCESS) return fail(wish.error, "{}", wish.why);
        const PortCall call{.kind = wish.accepts ? Kind::kAccept : Kind::kConnect,
                            .port = wish.port,
                            .name = {},
                            .timeout = wish.timeout};
        // From the answer on the other side counts on this one.
        return with_memory_for("the connection that a port has made", [&]() -> Err {
          PortAnswer answer;
          TMPI_TRY(ask_ports(*comm.owner, call, answer));
          counterpart = {.leader = answer.peer,
                         .key = {.purpose = BarrierKey::Purpose::kPort,
                                 .context = 0,
                                 .tag = fmt::format("{} {}", wish.port, answer.pairing),
                                 .group = nullptr}};
          return kOk;
        });
      },
      created);
}

// Each end opens a port, which is a name that nobody else has, and tells the other end. Then nothing of that is in the
// socket any more, so that it is no error if the two cannot be connected (MPI report, 11.10.4).
Err join(Rank& rank, int fd, Comm*& created) {
  TMPI_TRY(check_socket(fd));
  OwnPort mine(rank);
  TMPI_TRY(mine.open());
  std::string other;
  TMPI_TRY(exchange_ports(fd, mine.name(), other));
  // The other end has this one's port, and counts on it.
  return with_memory_for("the connection of two ends of a socket", [&]() -> Err {
    PortAnswer answer;
    if (Err error = ask_ports(rank, {.kind = Kind::kOwner, .port = other, .name = {}}, answer)) {
      if (error.error_class() != MPI_ERR_PORT) return error;
      (void)take_explanation();
      return kOk;  // of another job, or of nobody
    }
    if (answer.peer == rank.world_rank) return kOk;
    const auto [low, high] = std::minmax(mine.name(), std::as_const(other));
    return meet_alone({.leader = answer.peer,
                       .key = {.purpose = BarrierKey::Purpose::kJoin,
                               .context = 0,
                               .tag = low + " " + high,
                               .group = nullptr}},
                      rank.self.errhandler, created);
  });
}

}  // namespace tmpi::mpi
