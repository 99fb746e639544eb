#include "mpi/comm/group_handle.hpp"

#include <cstdint>
#include <utility>

#include "mpi/base/handle_memory.hpp"
#include "mpi/base/handles.hpp"

namespace tmpi::mpi {
namespace {

constexpr std::uint32_t kMagic = 0x47525550;  // "GRUP"

struct GroupHandle {
  TMPI_IN_HANDLE_MEMORY(HandleKind::kGroup, GroupHandle)
  std::uint32_t magic = kMagic;
  GroupPtr group;
  const void* session = nullptr;
};

GroupHandle* object_behind(MPI_Group handle) noexcept {
  if (is_predefined(handle)) return nullptr;
  auto* object = reinterpret_cast<GroupHandle*>(handle);
  return object->magic == kMagic ? object : nullptr;
}

Err no_group(MPI_Group handle) {
  if (handle == MPI_GROUP_NULL)
    return fail(MPI_ERR_GROUP, "the group is MPI_GROUP_NULL: never created, or freed");
  return fail(MPI_ERR_GROUP, "{} is no group", static_cast<const void*>(handle));
}

}  // namespace

MPI_Group make_handle(GroupPtr group, const void* session) {
  if (group->size() == 0) return MPI_GROUP_EMPTY;
  return reinterpret_cast<MPI_Group>(new GroupHandle{.group = std::move(group), .session = session});
}

const void* session_of(MPI_Group handle) noexcept {
  const GroupHandle* object = object_behind(handle);
  return object != nullptr ? object->session : nullptr;
}

Err group_from(MPI_Group handle, const GroupPtr*& group) {
  if (handle == MPI_GROUP_EMPTY) {
    group = &Group::empty();
    return kOk;
  }
  GroupHandle* object = object_behind(handle);
  if (object == nullptr) return no_group(handle);
  group = &object->group;
  return kOk;
}

Err free_handle(MPI_Group& handle) {
  if (handle != MPI_GROUP_EMPTY) {
    GroupHandle* object = object_behind(handle);
    if (object == nullptr) return no_group(handle);
    object->magic = 0;
    delete object;
  }
  handle = MPI_GROUP_NULL;
  return kOk;
}

}  // namespace tmpi::mpi
