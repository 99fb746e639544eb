// SiteTable: what one rank's calls have come to, by call site. Used by the rank's own flow of control only;
// find() allocates when a new site finds no room. Does not suspend.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tmpi::observe {

/// All times in ticks.
struct Site {
  std::uint64_t address = 0;  ///< where the calls return to, in the rank's own image; 0: an empty place
  std::uint64_t calls = 0;
  std::int64_t bytes = 0;
  std::uint64_t wall = 0;
  std::uint64_t waited = 0;   ///< part of wall: the rank was suspended
  std::uint64_t idled = 0;    ///< part of waited: its core had nothing else to run until this rank went on
  std::uint64_t longest = 0;  ///< wall of the longest call
  std::uint64_t shortest = UINT64_MAX;
  std::uint64_t least = UINT64_MAX;  ///< that one of them has run
  std::uint16_t function = 0;
};

class SiteTable {
 public:
  Site& find(std::uint64_t address, std::uint16_t function) {
    for (std::uint32_t place = hash(address, function);; ++place) {
      Site& site = places_[place & mask_];
      if (site.address == address && site.function == function) [[likely]]
        return site;
      if (site.address == 0) return add(address, function);
    }
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t i = 0; i <= mask_; ++i) {
      if (places_[i].address != 0) visit(places_[i]);
    }
  }

 private:
  static constexpr std::uint32_t kFirstCapacity = 16;

  static std::uint32_t hash(std::uint64_t address, std::uint16_t function) noexcept {
    return static_cast<std::uint32_t>((address + function) * 0x9e3779b97f4a7c15u >> 40);
  }
  Site& add(std::uint64_t address, std::uint16_t function);
  void grow();

  // Those that were outgrown stay: when a job is aborted, another thread reads what has been recorded.
  std::vector<std::unique_ptr<Site[]>> arrays_;
  static inline Site nothing_;  // the table of a rank that has made no call: one empty place, never written
  Site* places_ = &nothing_;
  std::uint32_t mask_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace tmpi::observe
