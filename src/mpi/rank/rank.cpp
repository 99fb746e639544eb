#include "mpi/rank/rank.hpp"

#include <unistd.h>

#include <utility>

#include "mpi/base/attributes.hpp"
#include "mpi/base/info.hpp"
#include "mpi/base/user_errors.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/rank/callbacks.hpp"

namespace tmpi::mpi {
namespace {

Services the_services{};

}  // namespace

Rank::Rank() = default;
Rank::~Rank() = default;

Job& Job::create(Placement placement) {
  static Job& created =
      *new Job;  // never destroyed: ranks may still be in the library when the process exits
  const std::vector<int> mine = placement.ranks_of(placement.node());
  created.local_ = std::vector<Rank>(mine.size());
  created.by_world_rank_.assign(static_cast<std::size_t>(placement.size()), nullptr);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    created.local_[i].world_rank = mine[i];
    created.by_world_rank_[static_cast<std::size_t>(mine[i])] = &created.local_[i];
  }
  created.placement_ = std::move(placement);
  char name[256] = "localhost";
  (void)gethostname(name, sizeof name - 1);
  created.host_ = name;
  detail::g_job = &created;
  return created;
}

Job* detail::g_job = nullptr;

void register_services(const Services& services) {
  the_services = services;
}
const Services& services() noexcept {
  return the_services;
}

}  // namespace tmpi::mpi
