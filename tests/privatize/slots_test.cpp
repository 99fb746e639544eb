#include "privatize/rank_slots.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "base/platform.hpp"
#include "base/sanitized.hpp"
#include "privatize/loader.hpp"

namespace tmpi::privatize {
namespace {

/// A process has slots or not: each test has one of its own. 0: all is as it should be.
template <class Test>
int in_process_of_its_own(Test test) {
  if (kThreadSanitized) return 0;  // which has other plans for these addresses
  const pid_t child = fork();
  if (child == 0) _exit(test());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
#define EXPECT(condition) \
  if (!(condition)) return std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition), 1

constexpr std::size_t kBytes = RankSlots::kLeastBytes;
constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;

std::byte* map(std::size_t bytes, int flags = kAnonymous) {
  return static_cast<std::byte*>(RankSlots::get()->map(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0));
}

bool create(int ranks = 4) {
  return RankSlots::create(ranks, kBytes, 1 << 20) && RankSlots::get()->prepare(2);
}

int lies_in_slot() {
  EXPECT(create());
  RankSlots& slots = *RankSlots::get();
  std::byte* const outside = map(kPageSize);  // no rank asks
  EXPECT(slots.owner(reinterpret_cast<std::uintptr_t>(outside)) == -1);
  set_running_rank(2);
  std::byte* const one = map(3 * kPageSize + 1);
  EXPECT(slots.owner(reinterpret_cast<std::uintptr_t>(one)) == 2);
  std::memset(one, 1, 4 * kPageSize);
  std::byte* const two = map(kPageSize);
  EXPECT(two == one + 4 * kPageSize);
  // In part, and again where it was: with zeros.
  EXPECT(slots.unmap(one + kPageSize, kPageSize) == 0);
  unsigned char resident = 0;
  EXPECT(mincore(one + kPageSize, kPageSize, &resident) == 0 && resident == 0);  // a reservation still
  EXPECT(one[0] == std::byte{1} && one[2 * kPageSize] == std::byte{1});
  EXPECT(slots.unmap(outside, kPageSize) == 0);
  return 0;
}

int grows_and_moves() {
  EXPECT(create());
  RankSlots& slots = *RankSlots::get();
  set_running_rank(2);
  std::byte* const small = map(2 * kPageSize);
  std::memset(small, 7, 2 * kPageSize);
  EXPECT(slots.remap(small, 2 * kPageSize, 20 * kPageSize, 0, nullptr) == MAP_FAILED);
  auto* const large =
      static_cast<std::byte*>(slots.remap(small, 2 * kPageSize, 20 * kPageSize, MREMAP_MAYMOVE, nullptr));
  EXPECT(slots.owner(reinterpret_cast<std::uintptr_t>(large)) == 2);
  EXPECT(large[0] == std::byte{7} && large[2 * kPageSize - 1] == std::byte{7} &&
         large[2 * kPageSize] == std::byte{0});
  EXPECT(slots.remap(large, 20 * kPageSize, kPageSize, MREMAP_MAYMOVE, nullptr) == large);
  EXPECT(slots.unmap(large, kPageSize) == 0);
  return 0;
}

int is_full_sometime() {
  EXPECT(create());
  set_running_rank(2);
  EXPECT(map(kBytes) == MAP_FAILED && errno == ENOMEM);
  std::vector<std::byte*> all;
  for (std::byte* one; (one = map(1 << 20)) != MAP_FAILED;) all.push_back(one);
  EXPECT(errno == ENOMEM && all.size() > 30);
  for (std::byte* one : all) EXPECT(RankSlots::get()->unmap(one, 1 << 20) == 0);
  EXPECT(map(30 << 20) != MAP_FAILED);
  return 0;
}

// Against a model: no two pieces overlap, and what one holds nobody else changes.
int never_overlaps() {
  EXPECT(create());
  set_running_rank(2);
  std::mt19937 random(7);
  struct Piece {
    std::byte* begin;
    std::size_t bytes;
    std::byte mark;
  };
  std::vector<Piece> pieces;
  for (int i = 0; i < 3000; ++i) {
    if (pieces.size() < 100 && random() % 2 == 0) {
      const std::size_t bytes = (random() % 20 + 1) * kPageSize;
      std::byte* const at = map(bytes);
      EXPECT(at != MAP_FAILED);
      for (std::size_t j = 0; j < bytes; j += kPageSize) EXPECT(at[j] == std::byte{0});
      std::memset(at, i & 0xff, bytes);
      pieces.push_back({at, bytes, static_cast<std::byte>(i & 0xff)});
    } else if (!pieces.empty()) {
      Piece& piece = pieces[random() % pieces.size()];
      for (std::size_t j = 0; j < piece.bytes; j += kPageSize) EXPECT(piece.begin[j] == piece.mark);
      const std::size_t bytes =
          piece.bytes == kPageSize ? kPageSize : random() % (piece.bytes / kPageSize) * kPageSize + kPageSize;
      // From the front or from the back.
      const bool front = random() % 2 == 0;
      EXPECT(RankSlots::get()->unmap(front ? piece.begin : piece.begin + piece.bytes - bytes, bytes) == 0);
      if (front) piece.begin += bytes;
      piece.bytes -= bytes;
      if (piece.bytes == 0) {
        piece = pieces.back();
        pieces.pop_back();
      }
    }
  }
  return 0;
}

int refuses() {
  const auto no_power = RankSlots::create(1 << 20, std::size_t{4} << 30, 1 << 20);
  EXPECT(!no_power && no_power.message().find("--slot-size") != std::string::npos);
  EXPECT(!RankSlots::create(4, kBytes, kBytes));
  EXPECT(RankSlots::get() == nullptr);
  EXPECT(create());
  const auto too_much = RankSlots::get()->take_image_room(kBytes, kPageSize);
  EXPECT(!too_much && too_much.message().find("--slot-size") != std::string::npos);
  const auto first = RankSlots::get()->take_image_room(100, 4096),
             second = RankSlots::get()->take_image_room(100, 8192);
  EXPECT(first && second && *first == 0 && *second == 8192);
  return 0;
}

TEST_CASE("what a rank maps lies in its slot") {
  CHECK(in_process_of_its_own(&lies_in_slot) == 0);
}
TEST_CASE("a piece of a slot grows and moves") {
  CHECK(in_process_of_its_own(&grows_and_moves) == 0);
}
TEST_CASE("a slot can be full") {
  CHECK(in_process_of_its_own(&is_full_sometime) == 0);
}
TEST_CASE("pieces of a slot never overlap") {
  CHECK(in_process_of_its_own(&never_overlaps) == 0);
}
TEST_CASE("what does not fit is refused with a sentence") {
  CHECK(in_process_of_its_own(&refuses) == 0);
}

}  // namespace
}  // namespace tmpi::privatize
