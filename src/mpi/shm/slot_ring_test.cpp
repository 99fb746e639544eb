// Two roots of one collective call, which a program that is wrong may have: one of them is told.
#include "mpi/shm/slot_ring.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <csetjmp>
#include <thread>

#include "base/sanitized.hpp"

namespace tmpi::mpi {
namespace {

thread_local std::jmp_buf back;
std::atomic<int> refused{0};
std::atomic<Stamp> told{0};

// In place of the report, which ends the job.
[[noreturn]] void refuse(const Comm&, Stamp, Stamp other, const Rank*) noexcept {
  refused.fetch_add(1);
  told.store(other);
  std::longjmp(back, 1);
}

void claim(SlotRing& ring, SlotRing::Slot& slot, const Comm& comm, Stamp stamp) {
  if (setjmp(back) == 0) ring.claim(slot, comm, stamp);
}

TEST_CASE("of two roots that come to a slot at the same time one finds the other") {
  const int rounds = kSanitized ? 500 : 20'000;
  WorkerGroups groups;
  groups.members = 2;
  groups.sizes = {1, 1};
  groups.group_of_worker = {0, 1};
  SlotRing ring(groups);
  const auto report = detail::g_report_mismatch;
  detail::g_report_mismatch = refuse;
  std::atomic<int> come{0};
  const auto root = [&](Stamp stamp) {
    Comm comm;
    for (int round = 0; round < rounds; ++round) {
      come.fetch_add(1);
      while (come.load() < 4 * round + 2) continue;
      SlotRing::Slot& slot = ring.slot_of(static_cast<std::uint64_t>(round));
      claim(ring, slot, comm, stamp);
      come.fetch_add(1);
      while (come.load() < 4 * round + 4) continue;
      if (stamp == 1) ring.retire(slot);
    }
  };
  std::thread other(root, 2);
  root(1);
  other.join();
  detail::g_report_mismatch = report;
  CHECK(refused == rounds);
  CHECK((told == 1 || told == 2));
}

}  // namespace
}  // namespace tmpi::mpi
