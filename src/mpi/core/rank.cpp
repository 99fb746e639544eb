#include "mpi/core/rank.hpp"

#include <unistd.h>

#include "mpi/core/attributes.hpp"
#include "mpi/core/info.hpp"
#include "mpi/core/services.hpp"
#include "mpi/core/user_errors.hpp"
#include "mpi/p2p/buffered.hpp"

namespace tmpi::mpi {
namespace {

Services the_services{};

}  // namespace

Rank::Rank() = default;
Rank::~Rank() = default;

Job& Job::create(int size, int first, int local) {
  static Job& created =
      *new Job;  // never destroyed: ranks may still be in the library when the process exits
  created.size_ = size;
  created.first_ = first;
  created.local_ = std::vector<Rank>(static_cast<std::size_t>(local));
  for (int i = 0; i < local; ++i) created.local_[static_cast<std::size_t>(i)].world_rank = first + i;
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
