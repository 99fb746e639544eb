#include "ult/stack_arena.hpp"

#include <doctest/doctest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <set>

#include "base/sanitized.hpp"

namespace tmpi::ult {
namespace {

std::unique_ptr<StackArena> arena_of(const StackOptions& options) {
  auto arena = StackArena::create(options);
  REQUIRE(arena);
  return *std::move(arena);
}

sigjmp_buf g_jump;
void* g_fault_address = nullptr;

void on_fault(int, siginfo_t* info, void*) {
  g_fault_address = info->si_addr;
  siglongjmp(g_jump, 1);
}

/// True if writing to `at` raises a signal.
bool faults(std::byte* at) {
  struct sigaction action {
  }, old_segv{}, old_bus{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &old_segv);
  sigaction(SIGBUS, &action, &old_bus);
  volatile bool faulted = true;  // survives the jump
  if (sigsetjmp(g_jump, 1) == 0) {
    *reinterpret_cast<volatile std::byte*>(at) = std::byte{1};
    faulted = false;
  }
  sigaction(SIGSEGV, &old_segv, nullptr);
  sigaction(SIGBUS, &old_bus, nullptr);
  return faulted;
}

void check_guards(const StackArena& arena, std::size_t reach = StackArena::kGuardSize) {
  for (int i = 0; i < arena.count(); ++i) {
    const Stack stack = arena.stack(i);
    CHECK(stack.size >= arena.size());
    CHECK_FALSE(faults(stack.base));
    CHECK_FALSE(faults(stack.base + stack.size - 1));
    for (const std::size_t below : {std::size_t{1}, std::size_t{5000}, reach}) {
      CHECK(faults(stack.base - below));
      CHECK(g_fault_address == stack.base - below);
      CHECK(arena.guard_owner(g_fault_address) == i);
      CHECK(arena.owner(g_fault_address) == -1);
    }
    CHECK(arena.guard_owner(stack.base) == -1);
    CHECK(arena.owner(stack.base) == i);
    CHECK(arena.owner(stack.base + stack.size - 1) == i);
  }
  int local = 0;
  CHECK(arena.guard_owner(&local) == -1);
  CHECK(arena.guard_owner(nullptr) == -1);
}

TEST_CASE("guards fault and are told apart") {
  check_guards(*arena_of({.count = 5, .size = 64 * 1024}));
}

TEST_CASE("guards by mprotect behave the same") {
  auto arena = arena_of({.count = 5, .size = 64 * 1024, .mappings_only = true});
  CHECK_FALSE(arena->light_guards());
  check_guards(*arena);
}

TEST_CASE("wide guards fault as a whole while mappings are plenty") {
  auto arena = arena_of({.count = 5, .size = 64 * 1024, .wide_guards = true});
  CHECK(arena->guard_size() >= 4 << 20);
  check_guards(*arena, arena->guard_size());
}

TEST_CASE("wide guards of many stacks cost no mappings, and the rest of each is nobody's memory") {
  auto arena = arena_of({.count = 5000, .size = 64 * 1024, .wide_guards = true});
  if (!arena->light_guards()) return;  // before Linux 6.13
  const Stack stack = arena->stack(4321);
  CHECK(faults(stack.base - 1));
  CHECK(faults(stack.base - StackArena::kGuardSize));
  std::byte* const gap = stack.base - (3 << 20);
  CHECK_FALSE(faults(gap));
  CHECK(arena->guard_owner(gap) == 4321);
  CHECK(arena->owner(gap) == -1);
}

// A sanitizer's shadow memory alone is beyond any such limit.
TEST_CASE("under a limit on address space stacks shrink as far as they may" * doctest::skip(kSanitized)) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{std::size_t{4} << 30, std::size_t{4} << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(9);
    auto shrunk = StackArena::create({.count = 25, .size = 8 << 20, .least = 1 << 20, .wide_guards = true});
    if (!shrunk || (*shrunk)->size() != 2 << 20 || (*shrunk)->guard_size() != StackArena::kGuardSize)
      _exit(1);
    auto least = StackArena::create({.count = 2000, .size = 8 << 20, .least = 1 << 20, .wide_guards = true});
    if (!least || (*least)->size() != 1 << 20) _exit(2);
    least->reset();
    auto asked = StackArena::create({.count = 300, .size = 8 << 20, .wide_guards = true});
    if (!asked || (*asked)->size() != 8 << 20) _exit(3);
    auto none = StackArena::create({.count = 300, .size = 8 << 20, .least = 8 << 20});
    if (none || none.message().find("ulimit -v") == std::string::npos) _exit(4);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("sizes are rounded up to pages") {
  auto arena = arena_of({.count = 2, .size = 20'001});
  CHECK(arena->size() == 20'480);
}

TEST_CASE("neighbouring stacks start at different cache lines") {
  auto arena = arena_of({.count = 64, .size = 16 * 1024});
  std::set<std::uintptr_t> offsets;
  for (int i = 0; i < arena->count(); ++i) {
    const Stack stack = arena->stack(i);
    const auto top = reinterpret_cast<std::uintptr_t>(stack.base + stack.size);
    CHECK(top % 64 == 0);
    offsets.insert(top % 4096);
  }
  CHECK(offsets.size() == 64);
}

TEST_CASE("high-water mark counts touched pages from the top") {
  auto arena = arena_of({.count = 3, .size = 6 << 20});
  CHECK(arena->high_water(1) == 0);
  const Stack stack = arena->stack(1);
  std::byte* const top = stack.base + stack.size;
  top[-1] = std::byte{1};
  CHECK(arena->high_water(1) > 0);
  CHECK(arena->high_water(1) <= 4096);
  top[-100'000] = std::byte{1};
  CHECK(arena->high_water(1) >= 100'000);
  CHECK(arena->high_water(1) < 100'000 + 4096);
  stack.base[0] = std::byte{1};
  CHECK(arena->high_water(1) == stack.size);
  CHECK(arena->high_water(0) == 0);
  CHECK(arena->high_water(2) == 0);
}

TEST_CASE("executable stacks run code") {
  auto arena = arena_of({.count = 1, .size = 16 * 1024, .executable = true});
  const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov eax, 42; ret
  std::byte* at = arena->stack(0).base;
  std::memcpy(at, code, sizeof code);
  int (*function)() = nullptr;
  std::memcpy(&function, &at, sizeof function);
  CHECK(function() == 42);
}

TEST_CASE("senseless sizes are refused with a sentence") {
  auto small = StackArena::create({.count = 1, .size = 8 * 1024});
  REQUIRE_FALSE(small);
  CHECK(small.message() ==
        "a stack of 8192 bytes is too small: the least is 16 KiB. Pass a larger --stack-size.");
  auto large = StackArena::create({.count = 100'000, .size = std::size_t{1} << 33});
  REQUIRE_FALSE(large);
  CHECK(large.message().find("100000 stacks of 8.0 GiB") != std::string::npos);
  CHECK(large.message().find("--stack-size") != std::string::npos);
  CHECK_FALSE(StackArena::create({.count = 1000, .size = ~std::size_t{0} - 100}));
  CHECK_FALSE(
      StackArena::create({.count = 40'000, .size = 16 * 1024, .mappings_only = true}));  // max_map_count
}

}  // namespace
}  // namespace tmpi::ult
