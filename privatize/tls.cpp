#include "privatize/tls.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/platform.hpp"
#include "privatize/arena_registry.hpp"
#include "privatize/image_set.hpp"
#include "privatize/static_tls_pool.hpp"
#include "privatize/thread_context.hpp"

extern "C" void* __tls_get_addr(tmpi::privatize::TlsIndex* index);

namespace tmpi::privatize {
namespace {

constexpr std::uint64_t kFirstAddress = 1ULL << 32;  // the kernel maps nothing of ours below

__attribute__((noinline)) void* copy_of(std::uint64_t address) {
  if (thread_context().copies == nullptr) thread_context().copies = new TlsCopies;
  return thread_context().copies->translate(address);
}

}  // namespace

constinit thread_local ThreadContext detail::t_context;

extern "C" void* tmpi_tls_get_addr(TlsIndex* index) {
  if (index->module < kFirstAddress) [[unlikely]]
    return __tls_get_addr(index);
  const std::uint64_t address = index->module + index->offset;
  // As the descriptors' functions: no helper thread runs with a thread pointer that is not its own.
  if (detail::t_context.helper) [[unlikely]]
    return copy_of(address);
  return reinterpret_cast<void*>(address);
}

// Called by the descriptor functions' slow paths with the registers saved: distance of the variable from the
// thread pointer.
extern "C" std::uint64_t tmpi_tls_descriptor_copy(std::uint64_t address) {
  return reinterpret_cast<std::uint64_t>(copy_of(address)) - thread_pointer();
}
extern "C" std::uint64_t tmpi_tls_descriptor_system(TlsIndex* index) {
  return reinterpret_cast<std::uint64_t>(__tls_get_addr(index)) - thread_pointer();
}

extern "C" void tmpi_tlsdesc_image();
extern "C" void tmpi_tlsdesc_constant();
extern "C" void tmpi_tlsdesc_system();
static_assert(offsetof(ThreadContext, helper) == 4, "tls_descriptor.S reads this field");

TlsDescriptorFunctions tls_descriptor_functions() noexcept {
  return {reinterpret_cast<std::uint64_t>(&tmpi_tlsdesc_image),
          reinterpret_cast<std::uint64_t>(&tmpi_tlsdesc_constant),
          reinterpret_cast<std::uint64_t>(&tmpi_tlsdesc_system)};
}

Result<std::int64_t> system_thread_pointer_offset(link_map* map) {
  void* block = nullptr;
  if (dlinfo(map, RTLD_DI_TLS_DATA, &block) != 0 || block == nullptr) {
    return Failure{std::string(map->l_name) +
                   ": its thread-local variables have no fixed place; rebuild the program with -fPIC"};
  }
  return static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(block) - thread_pointer());
}

void initialise_static_tls(const ImageSet& set, int index) noexcept {
  if (!set.has_static_tls()) return;
  std::byte* share = StaticTlsPool::memory() + set.pool_offset(index);
  for (const auto& object : set.objects()) {
    const TlsPlace& tls = object->tls;
    if (!tls.is_static) continue;
    const auto* initial = reinterpret_cast<const std::byte*>(set.base(index) + object->at(tls.init));
    std::memcpy(share + tls.offset, initial, tls.init_size);
    std::memset(share + tls.offset + tls.init_size, 0, tls.size - tls.init_size);
  }
}

void* static_tls_address(const ImageSet& set, int index, const Object& object,
                         std::uint64_t offset) noexcept {
  return StaticTlsPool::memory() + set.pool_offset(index) + object.tls.offset + offset;
}

TlsCopies::~TlsCopies() {
  while (Copy* copy = first_) {
    first_ = copy->next;
    std::free(copy->memory);
    delete copy;
  }
}

std::byte* TlsCopies::translate(std::uint64_t address) {
  const ImageLocation where = arena_registry().find(address);
  const ImageSet& set = *where.set;
  const std::uint64_t base = set.base(where.index);
  const std::uint64_t block = base + set.tls_begin();
  for (Copy* copy = first_; copy != nullptr; copy = copy->next) {
    if (copy->block == block) return copy->memory + (address - block);
  }
  // The block may begin anywhere in its alignment unit only if tls_begin is aligned: it is page-aligned in
  // the image.
  const std::uint64_t alignment = set.tls_alignment() > kPage ? set.tls_alignment() : kPage;
  void* memory = std::aligned_alloc(alignment, align_up(set.tls_size(), alignment));
  if (memory == nullptr) throw std::bad_alloc();
  auto* bytes = static_cast<std::byte*>(memory);
  std::memset(bytes, 0, set.tls_size());
  for (const auto& object : set.objects()) {
    const TlsPlace& tls = object->tls;
    if (tls.is_static || tls.init_size == 0) continue;
    std::memcpy(bytes + (tls.offset - set.tls_begin()),
                reinterpret_cast<const void*>(base + object->at(tls.init)), tls.init_size);
  }
  first_ = new Copy{block, bytes, first_};
  return bytes + (address - block);
}

}  // namespace tmpi::privatize
