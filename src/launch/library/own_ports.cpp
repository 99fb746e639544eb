#include "launch/library/own_ports.hpp"

#include <mutex>

#include "launch/ports/port_registry.hpp"
#include "launch/system/job_number.hpp"
#include "mpi.h"

namespace tmpi::launch {

mpi::PortAnswer own_ports(const mpi::Rank&, const mpi::PortCall& call) {
  using Kind = mpi::PortCall::Kind;
  static std::mutex mutex;  // threads of the program
  static PortRegistry registry(number_of_job());
  const std::lock_guard guard(mutex);
  if (call.kind != Kind::kAccept && call.kind != Kind::kConnect) return registry.call({}, call).back().answer;
  mpi::PortCall whose = call;
  whose.kind = Kind::kOwner;
  mpi::PortAnswer answer = registry.call({}, whose).back().answer;
  if (answer.error != MPI_SUCCESS) return answer;
  answer.error = MPI_ERR_UNSUPPORTED_OPERATION;
  answer.why =
      "a program that was started by itself is alone in its job, and nobody can be at the other end of the "
      "port; "
      "start it with tmpirun";
  return answer;
}

}  // namespace tmpi::launch
