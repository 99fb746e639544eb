// Registered memory: what stays so, and how it is found out that it was unmapped.
#include "net/verbs/registrations.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/sanitized.hpp"
#include "net/conformance_node.hpp"
#include "net/verbs/device.hpp"
#include "net/verbs/fake_adapter.hpp"
#include "net/verbs/unmap_hooks.hpp"
#include "net/verbs/unmap_watch.hpp"

namespace tmpi::net::verbs {
namespace {

using fake::world;

struct Memory {
  std::byte* data;
  std::size_t bytes;
  explicit Memory(std::size_t size)
      : data(static_cast<std::byte*>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        bytes(size) {}
  ~Memory() {
    if (data != nullptr) munmap(data, bytes);
  }
  std::byte* keep() { return std::exchange(data, nullptr); }
};

// While the process has one thread.
const bool g_hooked = hook_unmappings();

struct Cache {
  explicit Cache(void (*before_reading)() = nullptr) {
    auto opened = Device::open(fake::api(), {}, {});
    REQUIRE(opened);
    device = std::move(*opened);
    std::string why;
    auto watch = UnmapWatch::create(why, before_reading);
    if (watch == nullptr) MESSAGE("skipped: no registrations are kept here: " << why);
    watches = watch != nullptr;
    registrations.use(*device, std::move(watch));
  }
  // Uses the memory for a message.
  void use(const std::byte* data, std::size_t bytes) {
    Registration* const held = registrations.acquire(data, bytes, Registrations::Use::kWrite);
    REQUIRE(held != nullptr);
    registrations.release(*held);
  }
  std::uint64_t registered() const { return registrations.counts().registered; }

  std::unique_ptr<Device> device;
  Registrations registrations;
  bool watches = false;
};

TEST_CASE("memory stays registered until it is unmapped, moved or given back") {
  Cache cache;
  if (!cache.watches) return;
  Memory memory(1 << 20);
  cache.use(memory.data, memory.bytes);
  cache.use(memory.data + 5000, 100'000);
  CHECK(cache.registered() == 1);
  CHECK(cache.registrations.counts().found == 1);
  SUBCASE("unmapped, and something else mapped there") {
    munmap(memory.data, memory.bytes);
    mmap(memory.data, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  SUBCASE("something else mapped over a part") {
    mmap(memory.data + 65536, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  SUBCASE("given back") {
    madvise(memory.data, memory.bytes, MADV_DONTNEED);
  }
  SUBCASE("moved") {
    Memory target(memory.bytes);
    std::byte* const before = std::exchange(memory.data, target.data);
    CHECK(mremap(before, memory.bytes, memory.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target.data) ==
          target.data);
    mmap(before, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    cache.use(before, memory.bytes);
    CHECK(cache.registered() == 2);
    munmap(before, memory.bytes);
    target.data = nullptr;
    return;
  }
  SUBCASE("unmapped by another thread") {
    std::thread([&] {
      munmap(memory.data, memory.bytes);
      mmap(memory.data, memory.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }).join();
  }
  cache.use(memory.data, memory.bytes);
  CHECK(cache.registered() == 2);
  CHECK(cache.registrations.counts().unmapped == 1);
}

TEST_CASE("a repeated buffer costs no system call") {
  Cache cache;
  if (!cache.watches || kSanitized) return;
  REQUIRE(g_hooked);
  Memory memory(1 << 20);
  for (int i = 0; i < 1000; ++i) cache.use(memory.data, memory.bytes);
  CHECK(cache.registered() == 1);
  CHECK(cache.registrations.asked() == 0);
  // Somebody unmaps memory: others, and what was registered.
  { Memory other(1 << 20); }
  std::free(std::malloc(64 << 20));
  munmap(memory.data, memory.bytes);
  Memory again(memory.bytes);
  cache.use(again.data, again.bytes);
  CHECK(cache.registered() == 2);
  CHECK(cache.registrations.asked() == 0);
  memory.data = nullptr;
}

std::atomic<bool> g_may_read{true};

void wait_for_leave() {
  while (!g_may_read.load()) std::this_thread::yield();
}

// The system unmaps first, tells then, and lets the caller of munmap() return last. Meanwhile another rank may be given the
// addresses.
TEST_CASE("addresses that another has got before their unmapping was told") {
  Cache cache(&wait_for_leave);
  if (!cache.watches) return;
  constexpr std::size_t kBytes = 1 << 20;
  std::byte* place = nullptr;
  std::function<void()> unmap;
  SUBCASE("by munmap") {
    place = Memory(kBytes).keep();
    unmap = [&] { munmap(place, kBytes); };
  }
  SUBCASE("by dlclose") {
    void* const library = dlopen(VERBS_TEST_LIBRARY, RTLD_NOW);
    REQUIRE(library != nullptr);
    place = static_cast<std::byte*>(dlsym(library, "tmpi_test_space"));
    REQUIRE(place != nullptr);
    unmap = [=] { dlclose(library); };
  }
  // A thread that starts late may map memory of its own where the other's was: all have started before that is unmapped,
  // the watch's too, since `first` is gone only when it has been told.
  std::atomic<int> started{0};
  std::atomic<bool> go{false}, ended{false};
  const auto start = [&] {
    ++started;
    while (!go.load()) std::this_thread::yield();
  };
  std::thread leave([&] {  // made now: who calls dlclose() holds a lock that a thread's start needs
    start();
    while (!ended.load()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    g_may_read = true;
  });
  std::thread other([&] {
    start();
    unmap();
  });
  {
    Memory first(kBytes);
    cache.use(first.data, first.bytes);
  }
  cache.use(place, kBytes);
  cache.use(place, kBytes);
  CHECK(cache.registered() == 2);
  CHECK(cache.registrations.counts().unmapped == 1);
  while (started.load() != 2) std::this_thread::yield();
  g_may_read = false;
  go = true;
  void* got = MAP_FAILED;
  const double until = conformance::seconds_now() + 20;
  while (got == MAP_FAILED && conformance::seconds_now() < until)
    got =
        mmap(place, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ended = true;
  if (got == place) {
    cache.use(place, kBytes);
    CHECK(cache.registered() == 3);
    CHECK(cache.registrations.counts().unmapped == 2);
  }
  leave.join();
  other.join();
  REQUIRE(got == place);
  munmap(place, kBytes);
}

TEST_CASE("who unmaps memory without saying so is found out") {
  Cache cache;
  if (!cache.watches) return;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    Memory memory(1 << 20);
    cache.use(memory.data, memory.bytes);
    CHECK(cache.registered() == round);
    const std::uint64_t asked = cache.registrations.asked();
    cache.use(memory.data, memory.bytes);
    if (!kSanitized) CHECK(cache.registrations.asked() - asked == (round == 1 ? 0 : 1));
    syscall(SYS_munmap, std::exchange(memory.data, nullptr), memory.bytes);
  }
}

// The functions that have taken the place of the C library's.
TEST_CASE("what is hooked still does what it did") {
  constexpr std::size_t kBytes = 1 << 16;
  Memory memory(kBytes);
  std::memset(memory.data, 1, kBytes);
  CHECK(madvise(memory.data, kBytes, MADV_DONTNEED) == 0);
  CHECK(memory.data[0] == std::byte{0});
  CHECK(madvise(memory.data + 1, kBytes, MADV_DONTNEED) == -1);
  CHECK(errno == EINVAL);
  memory.data[100] = std::byte{7};
  auto* const moved = static_cast<std::byte*>(mremap(memory.data, kBytes, 4 * kBytes, MREMAP_MAYMOVE));
  REQUIRE(static_cast<void*>(moved) != MAP_FAILED);
  memory.data = moved;
  memory.bytes = 4 * kBytes;
  CHECK(moved[100] == std::byte{7});
  CHECK(mmap(memory.data, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
  CHECK(errno == EINVAL);
  CHECK(munmap(memory.data + 1, kBytes) == -1);
  CHECK(errno == EINVAL);
  void* const before = sbrk(0);
  CHECK(sbrk(1 << 20) == before);
  CHECK(static_cast<char*>(sbrk(0)) == static_cast<char*>(before) + (1 << 20));
  CHECK(sbrk(-(1 << 20)) != reinterpret_cast<void*>(-1));
  CHECK(sbrk(0) == before);
  CHECK(brk(reinterpret_cast<void*>(UINTPTR_MAX / 2)) == -1);
  CHECK(errno == ENOMEM);
  const int segment = shmget(IPC_PRIVATE, kBytes, IPC_CREAT | 0600);
  if (segment < 0) return;  // not in this container
  void* const attached = shmat(segment, nullptr, 0);
  CHECK(attached != reinterpret_cast<void*>(-1));
  CHECK(shmdt(attached) == 0);
  CHECK(shmdt(attached) == -1);
  shmctl(segment, IPC_RMID, nullptr);
}

// A sanitizer has a malloc of its own.
TEST_CASE("what malloc gives back to the system is not used again" * doctest::skip(kSanitized)) {
  Cache cache;
  if (!cache.watches) return;
  mallopt(M_MMAP_THRESHOLD, 512 << 10);  // and it stays there
  int mapped = 0;
  for (int round = 0; round < 50; ++round) {
    const std::size_t bytes = (std::size_t{1} << 20) << (round % 6);
    auto* const memory = static_cast<std::byte*>(std::malloc(bytes));
    const bool is_mapped =
        (reinterpret_cast<const std::size_t*>(memory)[-1] & 2) != 0;  // else it stays with malloc
    mapped += is_mapped ? 1 : 0;
    const std::uint64_t before = cache.registered();
    cache.use(memory, bytes);
    if (is_mapped) CHECK(cache.registered() == before + 1);
    const std::uint64_t after = cache.registered();
    cache.use(memory, bytes);
    CHECK(cache.registered() == after);
    std::free(memory);
  }
  CHECK(mapped > 5);
}

TEST_CASE("registrations that overlap, that are many, that are too much") {
  Cache cache;
  if (!cache.watches) return;
  Memory memory(16 << 20);
  cache.use(memory.data, 8192);
  cache.use(memory.data + 20480, 8192);
  cache.use(memory.data + 4096, 20480);  // both become one
  CHECK(cache.registered() == 3);
  CHECK(world().memory.size() == 1);
  cache.use(memory.data, 28672);
  CHECK(cache.registered() == 3);
  // Somebody holds it while another takes its place.
  Registration* const held = cache.registrations.acquire(memory.data, 4096, Registrations::Use::kRead);
  cache.use(memory.data + 24576, 8192);
  CHECK(world().memory.size() == 2);
  cache.registrations.release(*held);
  CHECK(world().memory.size() == 1);
  // The oldest make room: for more, and where no more can be registered.
  for (std::size_t i = 0; i < Registrations::kMostCached + 10; ++i)
    cache.use(memory.data + i * 8192 + 65536, 100);
  CHECK(world().memory.size() == Registrations::kMostCached);
  world().most_registered = world().registered_bytes;
  cache.use(memory.data + (15 << 20), 8192);
  CHECK(world().memory.size() == Registrations::kMostCached - 1);
  world().most_registered = 0;
  CHECK(cache.registrations.acquire(memory.data, 16 << 20, Registrations::Use::kWrite) == nullptr);
  CHECK(world().memory.empty());
  world().most_registered = SIZE_MAX;
}

TEST_CASE("a registration that fails leaves those alone that it would have replaced") {
  Cache cache;
  if (!cache.watches) return;
  Memory memory(1 << 20);
  cache.use(memory.data, 8192);
  cache.use(memory.data + 16384, 8192);
  world().unreadable = memory.data + 12288;
  CHECK(cache.registrations.acquire(memory.data + 4096, 16384, Registrations::Use::kWrite) == nullptr);
  world().unreadable = nullptr;
  cache.use(memory.data, 8192);
  cache.use(memory.data + 16384, 8192);
  CHECK(cache.registrations.counts().found == 2);
  CHECK(cache.registered() == 2);
  // They are watched as before.
  madvise(memory.data, 4096, MADV_DONTNEED);
  madvise(memory.data + 20480, 4096, MADV_DONTNEED);
  cache.use(memory.data, 8192);
  cache.use(memory.data + 16384, 8192);
  CHECK(cache.registered() == 4);
  // If need be they make room.
  world().most_registered = 16384;
  cache.use(memory.data, 12288);
  CHECK(cache.registered() == 5);
  CHECK(world().memory.size() == 1);
  world().most_registered = SIZE_MAX;
}

// Whoever has it mapped elsewhere, or its descriptor, may take pages away from it.
TEST_CASE("registrations of shared memory are not kept") {
  Cache cache;
  if (!cache.watches) return;
  constexpr std::size_t kBytes = 1 << 20;
  const int file = memfd_create("shared", MFD_CLOEXEC);
  REQUIRE(ftruncate(file, kBytes) == 0);
  auto* const shared =
      static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  std::memset(shared, 1, kBytes);
  cache.use(shared, kBytes);
  CHECK(world().memory.empty());
  cache.use(shared, kBytes);
  CHECK(cache.registrations.counts().found == 0);
  munmap(shared, kBytes);
  close(file);
}

TEST_CASE("a segment that is attached over other memory") {
  const int segment = shmget(IPC_PRIVATE, 1 << 16, IPC_CREAT | 0600);
  Cache cache;
  if (!cache.watches || !g_hooked || segment < 0) return;
  Memory memory(1 << 20);
  cache.use(memory.data, memory.bytes);
  CHECK(shmat(segment, memory.data + 65536, SHM_REMAP) == memory.data + 65536);
  cache.use(memory.data, 65536);
  CHECK(cache.registered() == 2);
  CHECK(cache.registrations.counts().found == 0);
  shmctl(segment, IPC_RMID, nullptr);
}

}  // namespace
}  // namespace tmpi::net::verbs
