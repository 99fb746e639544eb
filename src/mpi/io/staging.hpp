// Staging: memory by way of which data go to or from a file. Kept with the file between operations, since pages that
// the kernel has to make anew cost as much as the copy into them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi.h"

namespace tmpi::mpi {

/// Any thread.
class StagingPool {
 public:
  struct Room {
    std::unique_ptr<std::byte[]> data;
    MPI_Count bytes = 0;
  };
  /// Uninitialized, of at least so many bytes.
  Room take(MPI_Count bytes) {
    {
      const std::lock_guard guard(lock_);
      for (Room& room : idle_) {
        if (room.bytes < bytes) continue;
        std::swap(room, idle_.back());
        Room taken = std::move(idle_.back());
        idle_.pop_back();
        return taken;
      }
    }
    return {std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes)), bytes};
  }
  void give_back(Room room) {
    const std::lock_guard guard(lock_);
    if (idle_.size() < kMost && room.bytes <= kLargest) idle_.push_back(std::move(room));
  }

 private:
  static constexpr std::size_t kMost = 8;
  static constexpr MPI_Count kLargest = MPI_Count{64} << 20;
  SpinLock lock_;
  std::vector<Room> idle_ = [] {
    std::vector<Room> rooms;
    rooms.reserve(kMost);  // giving back must not fail
    return rooms;
  }();
};

/// None at first.
class Staging {
 public:
  explicit Staging(StagingPool& pool) noexcept : pool_(pool) {}
  ~Staging() {
    if (room_.data != nullptr) pool_.give_back(std::move(room_));
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Has room for so many bytes from now on; what was in it is lost if it had not.
  void need(MPI_Count bytes) {
    if (room_.bytes >= bytes) return;
    if (room_.data != nullptr) pool_.give_back(std::move(room_));
    room_ = {};
    room_ = pool_.take(bytes);
  }
  std::byte* data() noexcept { return room_.data.get(); }

 private:
  StagingPool& pool_;
  StagingPool::Room room_;
};

}  // namespace tmpi::mpi
