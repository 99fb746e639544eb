#include "mpi/remote/announcements.hpp"

#include "mpi/match/message.hpp"

namespace tmpi::mpi::remote {

std::size_t Announcements::Hash::operator()(const AnnouncementKey& key) const noexcept {
  return MatchKey{key.context + static_cast<std::uint32_t>(key.receiver) * 0x9e3779b97f4a7c15u, key.sender,
                  key.tag}
      .hash();
}

void Announcements::add(const AnnouncementKey& key, MPI_Count capacity) {
  if (count_ >= kMost) return;
  waiting_[key].push_back(capacity);
  ++count_;
}

std::optional<MPI_Count> Announcements::take(const AnnouncementKey& key) noexcept {
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) return {};
  const MPI_Count capacity = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) waiting_.erase(found);
  --count_;
  return capacity;
}

}  // namespace tmpi::mpi::remote
