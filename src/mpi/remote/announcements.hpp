// Announcements: large receives that ranks of other nodes have posted for messages of ranks of this node
// (--rndv early-cts). A hint: messages are matched as always when they arrive. Used under the engine's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "mpi.h"

namespace tmpi::mpi::remote {

struct AnnouncementKey {
  std::uint64_t context = 0;
  int sender = 0;  ///< world ranks
  int receiver = 0;
  int tag = 0;

  bool operator==(const AnnouncementKey&) const = default;
};

class Announcements {
 public:
  bool empty() const noexcept { return count_ == 0; }
  /// A full table forgets what it is told: the message then asks first.
  void add(const AnnouncementKey& key, MPI_Count capacity);
  /// Takes out the oldest with this key: the bytes that the receive has room for.
  std::optional<MPI_Count> take(const AnnouncementKey& key) noexcept;

  static constexpr std::size_t kMost = 8192;

 private:
  struct Hash {
    std::size_t operator()(const AnnouncementKey& key) const noexcept;
  };
  std::unordered_map<AnnouncementKey, std::deque<MPI_Count>, Hash> waiting_;
  std::size_t count_ = 0;
};

}  // namespace tmpi::mpi::remote
