// Where memory lies (base/numa.hpp) on a machine with two NUMA nodes. With an argument: where this process may have memory on node 0
// alone, by its cpuset.
#include <sched.h>
#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/numa.hpp"
#include "base/platform.hpp"

using namespace tmpi;

namespace {

void check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "places: %s\n", what);
  std::exit(1);
}

/// Of a page that is touched first after a hint.
int node_after(int preferred) {
  void* const memory = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "no memory");
  numa::prefer(memory, kPageSize, preferred);
  *static_cast<volatile char*>(memory) = 1;
  int node = -1;
  check(get_mempolicy(&node, nullptr, 0, memory, MPOL_F_NODE | MPOL_F_ADDR) == 0,
        "where a page lies is not told");
  return node;
}

int node_after_move(int to) {
  void* const memory = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  numa::prefer(memory, kPageSize, 0);
  *static_cast<volatile char*>(memory) = 1;
  std::array<void*, 1> page{memory};
  std::array<int, 1> status{-1};
  check(numa::move_pages(page, std::array{to}, status), "pages cannot be moved");
  return status[0];
}

}  // namespace

int main(int argc, char**) {
  check(numa::is_usable(), "libnuma is not usable");
  const int last = argc > 1 ? 0 : 1;
  check(numa::nearest_with_memory(0) == 0, "node 0 has memory");
  check(numa::nearest_with_memory(1) == last, "the nearest memory of node 1");
  check(numa::nearest_with_memory(2) == -1, "there is no node 2");
  check(node_after(0) == 0, "node 0 was preferred");
  check(node_after(numa::nearest_with_memory(1)) == last, "the nearest to node 1 was preferred");
  check(node_after_move(last) == last, "a page was to move");
  std::puts("right");
}
