// Windows: what every member knows of all. Their memory is the ranks' own.
#include <cstdint>
#include <utility>
#include <vector>

#include "mpi/rma/create.hpp"
#include "mpi/rma/remote.hpp"
#include "mpi/save/objects.hpp"

namespace tmpi::mpi {

std::string why_not(const Window& window) {
  if (window.members->flavor == MPI_WIN_FLAVOR_SHARED)
    return "has a window of shared memory (MPI_Win_allocate_shared), which lies with no rank";
  if ((window.epoch != Epoch::kNone && window.epoch != Epoch::kFence) || window.exposed)
    return "has an epoch open at a window";
  return "";
}

bool finish(Window& window) {
  const Err refused = window.remote == nullptr ? kOk : finish_remote(window, -1);
  if (!refused) return true;
  (void)take_explanation();
  window.remote->error = refused.error_class();  // the next synchronization tells it
  return false;
}

void save(Packer& to, const Window& window) {
  const WindowShared& members = *window.members;
  to.value(reinterpret_cast<std::uintptr_t>(window.comm));
  to.value(members.flavor);
  to.value(members.size());
  for (int rank = 0; rank < members.size(); ++rank) to.value(members.extent(rank));
  to.value(window.epoch);
  to.value(window.no_locks);
  save_handler(to, window.errhandler);
  to.text(window.name);
  save_entries(to, window.hints);
  save_attributes(to, window.attributes);
  for (const auto& [begin, end] : window.mine().regions.all()) {
    to.value(true);
    to.value(begin);
    to.value(end);
  }
  to.value(false);
}

Err revive_window(Unpacker& from, Rank& owner) {
  auto& window = *new Window;
  auto& comm = *reinterpret_cast<Comm*>(from.value<std::uintptr_t>());
  const int flavor = from.value<int>();
  std::vector<Extent> extents(static_cast<std::size_t>(from.value<int>()));
  for (Extent& each : extents) each = from.value<Extent>();
  revive_window(window, comm, flavor, std::move(extents));
  window.epoch = from.value<Epoch>();
  window.no_locks = from.value<bool>();
  window.errhandler = take_handler(from);
  window.name = from.text();
  window.hints = take_entries(from);
  take_attributes(from, owner, window.attributes);
  while (from.value<bool>()) {
    const auto begin = from.value<Address>(), end = from.value<Address>();
    TMPI_TRY(window.mine().regions.attach(begin, static_cast<MPI_Aint>(end - begin)));
  }
  return kOk;
}

}  // namespace tmpi::mpi
