#include "net/sim/model.hpp"

#include <time.h>

#include <algorithm>

#include "base/spinlock.hpp"

namespace tmpi::net::sim {

Nanoseconds now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Nanoseconds>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void spin_until(Nanoseconds time) noexcept {
  while (now() < time) cpu_relax();
}

Nanoseconds Interface::reserve(Nanoseconds earliest, Nanoseconds length) noexcept {
  Nanoseconds free = free_.load(std::memory_order_relaxed);
  Nanoseconds start = 0;
  do {
    start = std::max(earliest, free);
  } while (!free_.compare_exchange_weak(free, start + length, std::memory_order_relaxed));
  return start;
}

Nanoseconds Departure::piece(Interface& interface, const Model& model, Nanoseconds ready, std::uint64_t bytes,
                             bool last) noexcept {
  Nanoseconds length = model.wire_time(bytes);
  if (last) {
    const Nanoseconds since_first = first_ == kNever ? 0 : std::max<Nanoseconds>(0, ready - first_);
    length = std::max(length, model.gap - since_first);
  }
  const Nanoseconds start = interface.reserve(ready, length);
  if (first_ == kNever) first_ = start;
  return start;
}

Jitter::Jitter(const Model& model, std::uint64_t stream) noexcept
    : most_(model.jitter), state_(model.seed * 0x9e3779b97f4a7c15u + stream) {}

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA '14).
Nanoseconds Jitter::next() noexcept {
  if (most_ <= 0) return 0;
  std::uint64_t value = state_ += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  value ^= value >> 31;
  return static_cast<Nanoseconds>(value % (static_cast<std::uint64_t>(most_) + 1));
}

}  // namespace tmpi::net::sim
