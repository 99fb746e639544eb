// Sends of a run in which they wait for their receives, as MPI lets the mode that programs use most (MPI report, 3.4): a program that needs
// buffers for them stands still.
#include "replay/logs.hpp"

namespace tmpi::replay {
namespace {

template <auto kSend, auto kSynchronous>
struct Sending;

template <class... Arguments, int (*kSend)(Arguments...), int (*kSynchronous)(Arguments...)>
struct Sending<kSend, kSynchronous> {
  static int call(Arguments... arguments) {
    return sends_wait() ? kSynchronous(arguments...) : kSend(arguments...);
  }
};

}  // namespace

const std::vector<Version>& sends() {
  static const std::vector<Version> all{
      version("MPI_Send", &Sending<&PMPI_Send, &PMPI_Ssend>::call),
      version("MPI_Send_c", &Sending<&PMPI_Send_c, &PMPI_Ssend_c>::call),
      version("MPI_Isend", &Sending<&PMPI_Isend, &PMPI_Issend>::call),
      version("MPI_Isend_c", &Sending<&PMPI_Isend_c, &PMPI_Issend_c>::call),
      version("MPI_Send_init", &Sending<&PMPI_Send_init, &PMPI_Ssend_init>::call),
      version("MPI_Send_init_c", &Sending<&PMPI_Send_init_c, &PMPI_Ssend_init_c>::call),
  };
  return all;
}

}  // namespace tmpi::replay
