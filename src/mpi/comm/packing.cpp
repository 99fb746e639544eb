#include "mpi/comm/packing.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "mpi.h"
#include "mpi/base/placement.hpp"
#include "mpi/comm/group_ops.hpp"

namespace tmpi::mpi {
namespace {

enum class GroupForm : std::uint8_t { kNoGroup, kAsBefore, kRange, kList, kByJob };

// A member by what all jobs know of it, and where it lives there.
struct JobMember {
  std::uint64_t job = 0;
  std::int32_t number = 0;
  std::int32_t node = 0;
};

JobMember known_to_all(int rank) noexcept {
  const OtherJob* const job = of_other_job(rank) ? other_jobs().at(job_of(rank)) : nullptr;
  return {other_jobs().id_of(rank), number_at_home(rank),
          placement().node_of(rank) - (job != nullptr ? job->first_node : 0)};
}

// None: of a job that this one is not connected with.
std::optional<int> known_here(const JobMember& member) {
  if (member.job == other_jobs().own_id()) return member.number;
  OtherJob* const job = other_jobs().with_id(member.job);
  if (job == nullptr || !job->learn(member.number, member.node)) return {};
  return number_here(job->index, member.number);
}

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
  other_jobs().any() ? ranks_by_job(*group) : ranks_here(*group);
}

void Packer::name_of_group(const std::shared_ptr<const Group>& group) {
  spans_jobs(*group) ? ranks_by_job(*group) : ranks_here(*group);
}

void Packer::ranks_by_job(const Group& group) {
  value(GroupForm::kByJob);
  value(static_cast<std::uint32_t>(group.size()));
  for (int rank = 0; rank < group.size(); ++rank) value(known_to_all(group.world_rank(rank)));
}

void Packer::ranks_here(const Group& group) {
  if (const int stride = stride_of(group); stride != 0) {
    value(GroupForm::kRange);
    for (const int number : {group.world_rank(0), group.size(), stride}) value(number);
    return;
  }
  value(GroupForm::kList);
  std::vector<int> members;
  for (int rank = 0; rank < group.size(); ++rank) members.push_back(group.world_rank(rank));
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
    case GroupForm::kByJob: {
      std::vector<int> members(value<std::uint32_t>());
      bool known = true;
      for (int& member : members) {
        const std::optional<int> here = known_here(value<JobMember>());
        known = known && here;
        member = here.value_or(0);
      }
      all_known_ = all_known_ && known;
      return last_ = known ? Group::list(std::move(members)) : nullptr;
    }
  }
  std::abort();
}

}  // namespace tmpi::mpi
