#include "mpi/remote/active.hpp"

namespace tmpi::mpi::remote {
namespace {

std::atomic<const ActiveHandlers*> g_handlers{nullptr};

}  // namespace

void register_active(const ActiveHandlers& handlers) noexcept {
  g_handlers.store(&handlers, std::memory_order_release);  // pairs with active_handlers()
}

const ActiveHandlers* active_handlers() noexcept {
  return g_handlers.load(std::memory_order_acquire);
}

}  // namespace tmpi::mpi::remote
