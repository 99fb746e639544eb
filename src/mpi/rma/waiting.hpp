// What a rank says of its waiting for one-sided communication (request/blocked.hpp).
#pragma once

#include <fmt/format.h>

#include "mpi/request/blocked.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::mpi {

/// Others of the window are to act: those whom `missing()` names, as ranks in the window.
template <class Missing>
class AwaitingMembers final : public WindowWait {
 public:
  AwaitingMembers(const Window& window, const char* what, Missing missing)
      : window_(window), what_(what), missing_(std::move(missing)) {}
  std::string describe() const override { return fmt::format("{} (window {})", what_, window_.comm->name); }
  std::vector<int> world_ranks() const override {
    std::vector<int> ranks = missing_();
    for (int& rank : ranks) rank = window_.members->group->world_rank(rank);
    return ranks;
  }

 private:
  const Window& window_;
  const char* const what_;
  const Missing missing_;
};

}  // namespace tmpi::mpi
