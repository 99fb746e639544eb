#include "mpi/rma/window.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

#include "base/platform.hpp"

namespace tmpi::mpi {
namespace {

// Larger memory is mapped: it is zero without being written, and each page lies where it is used first.
constexpr std::size_t kMapped = std::size_t{64} << 10;

// `unit`: a power of two.
constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) & ~(unit - 1);
}

struct Registry {
  SpinLock lock;
  std::unordered_map<ContextId, WindowShared*> windows;
};
Registry& registry() {
  static auto& all = *new Registry;  // messages may come until the process ends
  return all;
}

}  // namespace

WindowShared::WindowShared(ContextId id, std::shared_ptr<const Group> members, int kind,
                           std::vector<Extent> extents, const WindowMemory& memory)
    : context(id), group(std::move(members)), flavor(kind), extents_(std::move(extents)) {
  members_.resize(extents_.size());
  for (int rank = 0; rank < group->size(); ++rank) {
    Rank* const owner = job()->local(group->world_rank(rank));
    if (owner == nullptr) continue;
    here_.emplace_back().rank = owner;
    members_[static_cast<std::size_t>(rank)] = &here_.back();
  }
  const bool together = flavor == MPI_WIN_FLAVOR_SHARED && memory.contiguous;
  if (flavor == MPI_WIN_FLAVOR_ALLOCATE || (flavor == MPI_WIN_FLAVOR_SHARED && !together))
    allocate_each(memory);
  if (together) allocate_together(memory);
  reach_.resize(extents_.size());
  for (std::size_t rank = 0; rank < extents_.size() && flavor != MPI_WIN_FLAVOR_DYNAMIC; ++rank) {
    const Extent& extent = extents_[rank];
    if (members_[rank] != nullptr) reach_[rank] = {extent.base, extent.size, extent.disp_unit};
  }
  Registry& all = registry();
  const std::scoped_lock guard(all.lock);
  all.windows.emplace(context, this);
}

WindowShared::~WindowShared() {
  Registry& all = registry();
  const std::scoped_lock guard(all.lock);
  all.windows.erase(context);
}

WindowShared::Blocks::~Blocks() {
  for (const Block& block : all) {
    if (block.mapped > 0) {
      munmap(block.memory, block.mapped);
    } else {
      std::free(block.memory);
    }
  }
}

// `alignment`: a power of two, at least a cache line.
Address WindowShared::allocate(MPI_Aint bytes, std::size_t alignment) {
  const std::size_t size = rounded_up(static_cast<std::size_t>(bytes), kCacheLine);
  blocks_.all.reserve(blocks_.all.size() + 1);
  if (size >= kMapped || alignment > kPageSize) {
    const std::size_t mapped =
        rounded_up(std::max(size, kCacheLine), kPageSize) + (alignment > kPageSize ? alignment : 0);
    void* const memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    blocks_.all.push_back({memory, mapped});
    return static_cast<Address>(rounded_up(static_cast<std::size_t>(address_of(memory)), alignment));
  }
  const std::size_t room = rounded_up(std::max(size, kCacheLine), alignment);
  void* const memory = std::aligned_alloc(alignment, room);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, size);
  blocks_.all.push_back({memory, 0});
  return address_of(memory);
}

void WindowShared::allocate_each(const WindowMemory& memory) {
  for (std::size_t rank = 0; rank < extents_.size(); ++rank) {
    const bool has_memory = extents_[rank].size > 0 || flavor == MPI_WIN_FLAVOR_ALLOCATE;
    if (members_[rank] != nullptr && has_memory && extents_[rank].base == 0)
      extents_[rank].base = allocate(extents_[rank].size, memory.alignments[rank]);
  }
}

void WindowShared::allocate_together(const WindowMemory& memory) {
  MPI_Aint bytes = 0;
  for (const Extent& extent : extents_) {
    if (__builtin_add_overflow(bytes, extent.size, &bytes)) throw std::bad_alloc();
  }
  Address next = allocate(bytes, std::ranges::max(memory.alignments));
  for (Extent& extent : extents_) {
    extent.base = next;
    next = moved(next, extent.size);
  }
}

WindowShared* find_window(ContextId context) noexcept {
  Registry& all = registry();
  const std::scoped_lock guard(all.lock);
  const auto found = all.windows.find(context);
  return found != all.windows.end() ? found->second : nullptr;
}

}  // namespace tmpi::mpi
