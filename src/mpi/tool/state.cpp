#include "mpi/tool/state.hpp"

#include <algorithm>

namespace tmpi::mpi::tool {
namespace {

// Whatever a program hands over is compared with what there is, not looked into.
template <class Object>
Object* find(const std::vector<std::unique_ptr<Object>>& objects, const void* handle) noexcept {
  const auto found = std::ranges::find_if(objects, [&](const auto& each) { return each.get() == handle; });
  return found != objects.end() ? found->get() : nullptr;
}

template <class Object>
void erase(std::vector<std::unique_ptr<Object>>& objects, const Object& object) noexcept {
  std::erase_if(objects, [&](const auto& each) { return each.get() == &object; });
}

}  // namespace

void State::finalize() noexcept {
  if (!initialized() || uses_.fetch_sub(1, std::memory_order_release) > 1) return;
  sessions_.clear();
  handles_.clear();
}

PvarSession* State::find_session(MPI_T_pvar_session handle) const noexcept {
  return find(sessions_, handle);
}
void State::free_session(const PvarSession& session) noexcept {
  erase(sessions_, session);
}

CvarHandle* State::find_handle(MPI_T_cvar_handle handle) const noexcept {
  return find(handles_, handle);
}
void State::free_handle(const CvarHandle& handle) noexcept {
  erase(handles_, handle);
}

PvarHandle* find_handle(const PvarSession& session, MPI_T_pvar_handle handle) noexcept {
  return find(session.handles(), handle);
}

}  // namespace tmpi::mpi::tool
