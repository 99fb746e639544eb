#include "observe/call_class.hpp"

#include <algorithm>

namespace tmpi::observe {
namespace {

// What follows MPI_, and MPI_I for the nonblocking form.
constexpr std::string_view kCommunication[] = {"Send",
                                               "Bsend",
                                               "Ssend",
                                               "Rsend",
                                               "Recv",
                                               "Mrecv",
                                               "Sendrecv",
                                               "Sendrecv_replace",
                                               "Barrier",
                                               "Bcast",
                                               "Gather",
                                               "Gatherv",
                                               "Scatter",
                                               "Scatterv",
                                               "Allgather",
                                               "Allgatherv",
                                               "Alltoall",
                                               "Alltoallv",
                                               "Alltoallw",
                                               "Reduce",
                                               "Allreduce",
                                               "Reduce_scatter",
                                               "Reduce_scatter_block",
                                               "Scan",
                                               "Exscan",
                                               "Neighbor_allgather",
                                               "Neighbor_allgatherv",
                                               "Neighbor_alltoall",
                                               "Neighbor_alltoallv",
                                               "Neighbor_alltoallw"};
constexpr std::string_view kTests[] = {"Test", "Testall", "Testany", "Testsome"};
constexpr std::string_view kWaits[] = {"Wait", "Waitall", "Waitany", "Waitsome"};

template <std::size_t N>
bool one_of(const std::string_view (&names)[N], std::string_view name, bool initial_small = false) noexcept {
  return std::ranges::any_of(names, [&](std::string_view known) {
    if (known.size() != name.size() || known.substr(1) != name.substr(1)) return false;
    return name[0] == (initial_small ? static_cast<char>(known[0] + 'a' - 'A') : known[0]);
  });
}

}  // namespace

CallClass class_of(std::string_view function) noexcept {
  if (!function.starts_with("MPI_")) return CallClass::kOther;
  std::string_view name = function.substr(4);
  if (name.ends_with("_c")) name.remove_suffix(2);
  if (name == "Start" || name == "Startall") return CallClass::kNonblocking;
  if (name == "Probe" || name == "Mprobe" || one_of(kCommunication, name)) return CallClass::kBlocking;
  if (one_of(kTests, name)) return CallClass::kTest;
  if (one_of(kWaits, name)) return CallClass::kWait;
  if (name.size() > 1 && name[0] == 'I' && one_of(kCommunication, name.substr(1), true))
    return CallClass::kNonblocking;
  return CallClass::kOther;
}

}  // namespace tmpi::observe
