// Sources: what a worker looks at when it has nothing to run, and some of it at every switch as long as there is a reason
// (Reasons): registered with the list here, in the order in which they are looked at. Inside the worker; nothing
// here suspends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sched/door/role.hpp"
#include "sched/loop/reasons.hpp"

namespace tmpi::sched {

/// Makes tasks ready that wait for what comes there.
class Source {
 public:
  enum class Cost : std::uint8_t {
    kMemory,  ///< a look is a few loads
    kMore,    ///< it asks the clock, other workers, or the system
  };
  constexpr Source(std::uint32_t reasons, Cost cost) noexcept : reasons_(reasons), cost_(cost) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Takes in what has come. True: more may come soon, so that it pays to go on looking.
  virtual bool look() noexcept TMPI_REQUIRES(inside_worker) = 0;
  /// The worker has announced that it sleeps, and who leaves something here will wake it from now on: true if something
  /// has been left before.
  virtual bool look_again() noexcept TMPI_REQUIRES(inside_worker) { return false; }

  /// There is something to look for only for one of these; 0: always, and each switch sees to that by itself.
  std::uint32_t reasons() const noexcept { return reasons_; }
  Cost cost() const noexcept { return cost_; }

 protected:
  ~Source() = default;

 private:
  const std::uint32_t reasons_;
  const Cost cost_;
};

class Sources {
 public:
  static constexpr std::size_t kMost = 8;

  /// Behind those that are there.
  void add(Source& source) noexcept { all_[count_++] = {&source, source.reasons(), source.cost()}; }

  /// Looks at all that cost no more than `most`. True if it pays to go on. `reasons` is asked anew for each: one comes with
  /// a node in the inbox, which is looked at first, and would be slept through if it were known from before that.
  bool look(const Reasons& reasons, Source::Cost most = Source::Cost::kMore) noexcept
      TMPI_REQUIRES(inside_worker) {
    bool more = false;
    for (std::size_t i = 0; i < count_; ++i) {
      const Entry& one = all_[i];
      const bool wanted = one.reasons == 0 || (one.reasons & reasons.now()) != 0;
      if (wanted && one.cost <= most) more = one.source->look() || more;
    }
    return more;
  }
  /// At a switch: those for which there is a reason.
  void look_for(std::uint32_t reasons) noexcept TMPI_REQUIRES(inside_worker) {
    for (std::size_t i = 0; i < count_; ++i) {
      if ((all_[i].reasons & reasons) != 0) all_[i].source->look();
    }
  }
  /// From the last to the first, until one has found something.
  bool look_again() noexcept TMPI_REQUIRES(inside_worker) {
    for (std::size_t i = count_; i > 0; --i) {
      if (all_[i - 1].source->look_again()) return true;
    }
    return false;
  }

 private:
  // What a look asks of each, on two lines of the cache.
  struct Entry {
    Source* source;
    std::uint32_t reasons;
    Source::Cost cost;
  };
  std::array<Entry, kMost> all_{};
  std::size_t count_ = 0;
};

}  // namespace tmpi::sched
