#include "privatize/static_tls_pool.hpp"

#include <dlfcn.h>

#include <string>

namespace tmpi::privatize {

// The linker puts .tcommon behind all other thread-locals of the executable, so that the pool ends where the thread
// pointer points to: there the linker of a program has laid that program's.
__asm__(
    ".pushsection .tcommon,\"awT\",@nobits\n\t"
    ".balign 4096\n\t"
    ".hidden tmpi_static_tls_pool\n\t"
    ".globl tmpi_static_tls_pool\n\t"
    ".type tmpi_static_tls_pool, @object\n\t"
    ".size tmpi_static_tls_pool, 262144\n"
    "tmpi_static_tls_pool:\n\t"
    ".zero 262144\n\t"
    ".popsection");
static_assert(StaticTlsPool::kSize == 262144 && StaticTlsPool::kProgramAlignment == 4096);

extern "C"
    __attribute__((visibility("hidden"),
                   tls_model("initial-exec"))) __thread std::byte tmpi_static_tls_pool[StaticTlsPool::kSize];

StaticTlsPool& static_tls_pool() noexcept {
  static constinit StaticTlsPool pool;
  return pool;
}

std::byte* StaticTlsPool::memory() noexcept {
  return tmpi_static_tls_pool;
}

std::int64_t StaticTlsPool::thread_pointer_offset() noexcept {
  return static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(tmpi_static_tls_pool) - thread_pointer());
}

bool StaticTlsPool::ends_at_thread_pointer() noexcept {
  return thread_pointer_offset() == -static_cast<std::int64_t>(kSize);
}

Result<std::uint64_t> StaticTlsPool::take_end(std::uint64_t size) {
  if (size <= kSize && next_.load(std::memory_order_relaxed) <= kSize - size) {
    std::uint64_t taken = taken_at_end_.load(std::memory_order_relaxed);
    while (taken < size && !taken_at_end_.compare_exchange_weak(taken, size, std::memory_order_relaxed)) {
    }
    return kSize - size;
  }
  return Failure{
      "has " + std::to_string(size) +
      " bytes of thread-local variables that a plain compiler has linked, and a node process has room "
      "for " +
      std::to_string(kSize - kAlignment) + "; link it with tmpicc"};
}

bool StaticTlsPool::has_room(std::uint64_t size, std::uint64_t ranks) const noexcept {
  return size * ranks + next_.load(std::memory_order_relaxed) +
             taken_at_end_.load(std::memory_order_relaxed) <=
         kSize;
}

Result<std::uint64_t> StaticTlsPool::module_offset() {
  void* executable = dlopen(nullptr, RTLD_LAZY);
  void* block = nullptr;
  if (executable == nullptr || dlinfo(executable, RTLD_DI_TLS_DATA, &block) != 0 || block == nullptr) {
    return Failure{
        "the node process's own thread-local block cannot be found (dlinfo); this is a defect of tmpi"};
  }
  dlclose(executable);
  return static_cast<std::uint64_t>(tmpi_static_tls_pool - static_cast<std::byte*>(block));
}

Result<std::uint64_t> StaticTlsPool::allocate(std::uint64_t size) {
  const std::uint64_t offset = next_.fetch_add(size, std::memory_order_relaxed);
  if (offset + size + taken_at_end_.load(std::memory_order_relaxed) <= kSize) return offset;
  return Failure{"the program's libraries (such as libgomp) need " + std::to_string(size) +
                 " bytes of static thread-local memory per rank, and a node process has " +
                 std::to_string(kSize) + " in all: at most " + std::to_string((kSize - kAlignment) / size) +
                 " ranks fit; use fewer ranks per node process"};
}

}  // namespace tmpi::privatize
