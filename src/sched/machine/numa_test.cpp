#include "base/numa.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <array>

#include "base/platform.hpp"

using namespace tmpi;

// What takes several nodes is tried in an emulated machine that has them: tests/verbs-vm/programs/places.cpp.
TEST_CASE("memory is preferred and moved where the machine has it") {
  if (!numa::is_usable()) {
    MESSAGE("libnuma is not there, or the kernel knows no NUMA nodes");
    CHECK(numa::nearest_with_memory(0) == -1);
    CHECK_FALSE(numa::move_pages({}, {}, {}));
    return;
  }
  const int node = numa::nearest_with_memory(0);
  REQUIRE(node >= 0);
  void* const memory = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  numa::prefer(memory, kPageSize, node);
  *static_cast<char*>(memory) = 1;
  std::array<void*, 1> page{memory};
  std::array<int, 1> status{-1};
  CHECK(numa::move_pages(page, std::array{node}, status));
  CHECK(status[0] == node);
  munmap(memory, kPageSize);
}

TEST_CASE("a NUMA node that is not there has no memory near it, and hints about it are without effect") {
  CHECK(numa::nearest_with_memory(-1) == -1);
  CHECK(numa::nearest_with_memory(1 << 20) == -1);
  numa::prefer(nullptr, 0, -1);
  numa::prefer(nullptr, 0, 1 << 20);
}
