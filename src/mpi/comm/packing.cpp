#include "mpi/comm/packing.hpp"

#include <cstdint>
#include <cstdlib>

#include "mpi.h"
#include "mpi/comm/group_ops.hpp"

namespace tmpi::mpi {
namespace {

enum class GroupForm : std::uint8_t { kNoGroup, kAsBefore, kRange, kList };

// The stride if the group is an arithmetic sequence of at least two world ranks, else 0.
int stride_of(const Group& group) {
  if (group.size() < 2) return 0;
  const int stride = group.world_rank(1) - group.world_rank(0);
  for (int rank = 2; rank < group.size(); ++rank) {
    if (group.world_rank(rank) - group.world_rank(rank - 1) != stride) return 0;
  }
  return stride;
}

}  // namespace

void Packer::append(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), first, first + size);
}

void Packer::values(const std::vector<int>& values) {
  value(static_cast<std::uint32_t>(values.size()));
  append(values.data(), values.size() * sizeof(int));
}

void Packer::text(const std::string& text) {
  value(static_cast<std::uint32_t>(text.size()));
  append(text.data(), text.size());
}

void Packer::group(const std::shared_ptr<const Group>& group) {
  if (group == nullptr) return value(GroupForm::kNoGroup);
  if (last_ != nullptr && compare(*group, *last_) == MPI_IDENT) return value(GroupForm::kAsBefore);
  last_ = group;
  if (const int stride = stride_of(*group); stride != 0) {
    value(GroupForm::kRange);
    for (const int number : {group->world_rank(0), group->size(), stride}) value(number);
    return;
  }
  value(GroupForm::kList);
  std::vector<int> members;
  for (int rank = 0; rank < group->size(); ++rank) members.push_back(group->world_rank(rank));
  values(members);
}

void Unpacker::take(void* data, std::size_t size) {
  // What this very program has packed is as long as it says; anything else is memory that was overwritten.
  if (size > rest_.size()) std::abort();
  if (size > 0) std::memcpy(data, rest_.data(), size);
  rest_ = rest_.subspan(size);
}

std::vector<int> Unpacker::values() {
  std::vector<int> values(value<std::uint32_t>());
  take(values.data(), values.size() * sizeof(int));
  return values;
}

std::string Unpacker::text() {
  std::string text(value<std::uint32_t>(), '\0');
  take(text.data(), text.size());
  return text;
}

std::shared_ptr<const Group> Unpacker::group() {
  switch (value<GroupForm>()) {
    case GroupForm::kNoGroup:
      return nullptr;
    case GroupForm::kAsBefore:
      return last_;
    case GroupForm::kRange: {
      const int first = value<int>(), count = value<int>(), stride = value<int>();
      return last_ = Group::range(first, count, stride);
    }
    case GroupForm::kList:
      return last_ = Group::list(values());
  }
  std::abort();
}

}  // namespace tmpi::mpi
