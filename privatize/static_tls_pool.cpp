#include "privatize/static_tls_pool.hpp"

#include <dlfcn.h>

#include <string>

namespace tmpi::privatize {
namespace {

alignas(StaticTlsPool::kAlignment)
    __attribute__((tls_model("initial-exec"))) thread_local std::byte pool_memory[StaticTlsPool::kSize];

}  // namespace

StaticTlsPool& static_tls_pool() noexcept {
  static constinit StaticTlsPool pool;
  return pool;
}

std::byte* StaticTlsPool::memory() noexcept {
  return pool_memory;
}

std::int64_t StaticTlsPool::thread_pointer_offset() noexcept {
  return static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(pool_memory) - thread_pointer());
}

Result<std::uint64_t> StaticTlsPool::module_offset() {
  void* executable = dlopen(nullptr, RTLD_LAZY);
  void* block = nullptr;
  if (executable == nullptr || dlinfo(executable, RTLD_DI_TLS_DATA, &block) != 0 || block == nullptr) {
    return Failure{
        "the node process's own thread-local block cannot be found (dlinfo); this is a defect of tmpi"};
  }
  dlclose(executable);
  return static_cast<std::uint64_t>(pool_memory - static_cast<std::byte*>(block));
}

Result<std::uint64_t> StaticTlsPool::allocate(std::uint64_t size) {
  const std::uint64_t offset = next_.fetch_add(size, std::memory_order_relaxed);
  if (offset + size <= kSize) return offset;
  return Failure{"the program's libraries (such as libgomp) need " + std::to_string(size) +
                 " bytes of static thread-local memory per rank, and a node process has " +
                 std::to_string(kSize) + " in all: at most " + std::to_string((kSize - kAlignment) / size) +
                 " ranks fit; use fewer ranks per node process"};
}

}  // namespace tmpi::privatize
