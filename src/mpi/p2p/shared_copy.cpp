#include "mpi/p2p/shared_copy.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "sched/assist.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

// For the variable tmpi_core_assists.
inline void count_piece(sched::Assist::By who) noexcept {
  if (who == sched::Assist::By::kAssistant)
    sched::scheduler()->assist_point(sched::current_worker()).count_piece();
}

// The owner copies from the beginning, the assistant from the end: of a buffer that is used again and again each
// of the two caches keeps its part.
class SharedCopy : public sched::Assist {
 public:
  SharedCopy(void* to, const void* from, std::size_t bytes) noexcept
      : Assist(copy_piece),
        to_(static_cast<std::byte*>(to)),
        from_(static_cast<const std::byte*>(from)),
        bytes_(bytes),
        pieces_((bytes + kPiece - 1) / kPiece) {}

 private:
  static constexpr std::uint64_t kBack = std::uint64_t{1} << 32;

  static bool copy_piece(Assist& work, By who) noexcept {
    auto& self = static_cast<SharedCopy&>(work);
    const bool back = who == By::kAssistant;
    const std::uint64_t taken = self.taken_.fetch_add(back ? kBack : 1, std::memory_order_relaxed);
    const std::uint64_t at_front = taken % kBack, at_back = taken / kBack;
    if (at_front + at_back >= self.pieces_) return false;
    const std::size_t begin = (back ? self.pieces_ - 1 - at_back : at_front) * kPiece;
    std::memcpy(self.to_ + begin, self.from_ + begin, std::min(kPiece, self.bytes_ - begin));
    count_piece(who);
    return true;
  }

  std::byte* const to_;
  const std::byte* const from_;
  const std::size_t bytes_;
  const std::uint64_t pieces_;
  // Pieces that have been taken from the front and, times kBack, from the back.
  alignas(kCacheLine) std::atomic<std::uint64_t> taken_{0};
};

// In two halves: the worker with the lower number copies the front, whichever way the message goes and whoever has come
// second, so that of a buffer that is used again each of the two caches keeps its half. Who has ended before the other has
// begun copies that one's, too. One line: each that travels between the cores costs a tenth of such a copy.
class alignas(kCacheLine) HalvedCopy : public sched::Assist {
 public:
  HalvedCopy(void* to, const void* from, std::size_t bytes, bool owner_has_front) noexcept
      : Assist(copy_half),
        to_(static_cast<std::byte*>(to)),
        from_(static_cast<const std::byte*>(from)),
        bytes_(bytes),
        front_((bytes / 2 + kCacheLine - 1) / kCacheLine * kCacheLine),
        owner_has_front_(owner_has_front) {}

 private:
  static constexpr unsigned kFront = 1, kBack = 2;

  static bool copy_half(Assist& work, By who) noexcept {
    auto& self = static_cast<HalvedCopy&>(work);
    unsigned half = (who == By::kOwner) == self.owner_has_front_ ? kFront : kBack;
    unsigned before = self.taken_.fetch_or(half, std::memory_order_relaxed);
    if ((before & half) != 0) {
      half ^= kFront | kBack;
      before = self.taken_.fetch_or(half, std::memory_order_relaxed);
      if ((before & half) != 0) return false;
    }
    const std::size_t begin = half == kFront ? 0 : self.front_,
                      end = half == kFront ? self.front_ : self.bytes_;
    std::memcpy(self.to_ + begin, self.from_ + begin, end - begin);
    count_piece(who);
    return before == 0;  // else both have been taken
  }

  std::byte* const to_;
  const std::byte* const from_;
  const std::size_t bytes_;
  const std::size_t front_;
  const bool owner_has_front_;
  std::atomic<unsigned> taken_{0};
};
static_assert(sizeof(HalvedCopy) == kCacheLine);

// False: the worker does not idle, and nothing has been done.
bool copy_in_halves(void* to, const void* from, std::size_t bytes, int worker, int here) noexcept {
  HalvedCopy copy(to, from, bytes, here < worker);
  sched::AssistPoint& point = sched::scheduler()->assist_point(worker);
  if (!point.offer(copy)) return false;
  while (copy.step()) {
  }
  point.conclude(copy);
  return true;
}

void copy_in_pieces(void* to, const void* from, std::size_t bytes, int worker) noexcept {
  SharedCopy copy(to, from, bytes);
  sched::Scheduler& scheduler = *sched::scheduler();
  sched::AssistPoint& point = scheduler.assist_point(worker);
  bool offered = point.offer(copy);
  if (!offered) {  // this takes longer than it takes to wake a worker that sleeps
    point.request();
    scheduler.wake_if_parked(worker);
  }
  while (copy.step())
    if (!offered) offered = point.offer(copy);
  if (offered) point.conclude(copy);
}

}  // namespace

void detail::copy_shared(void* to, const void* from, MPI_Count count, int worker) noexcept {
  const auto bytes = static_cast<std::size_t>(count);
  const int here = sched::current_worker();
  const bool alone = worker < 0 || worker == here;
  if (!alone && choose_copiers(count) == Copiers::kPieces) return copy_in_pieces(to, from, bytes, worker);
  if (alone || here < 0 || !copy_in_halves(to, from, bytes, worker, here)) std::memcpy(to, from, bytes);
}

}  // namespace tmpi::mpi
