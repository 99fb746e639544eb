#include "privatize/image_set.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "privatize/arena_registry.hpp"
#include "privatize/debugger.hpp"
#include "privatize/rank_slots.hpp"
#include "privatize/static_tls_pool.hpp"

namespace tmpi::privatize {
namespace {

/// .bss up to this size is part of the template (no mapping of its own); above, it becomes anonymous memory
/// after the first part, which stays because COPY relocations point there.
constexpr std::uint64_t kLargeBss = 256 << 10;
constexpr std::uint64_t kBssHead = 16 << 10;

int protection_of(const Elf64_Phdr& segment) {
  return PROT_READ | ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

}  // namespace

std::vector<std::uint64_t>& Fixups::of(const ImageSet* owner, const ImageSet* target) {
  if (owner == target) return own;
  for (auto& [set, slots] : foreign) {
    if (set == target) return slots;
  }
  return foreign.emplace_back(target, std::vector<std::uint64_t>()).second;
}

ImageSet::~ImageSet() {
  if (arena_ == 0) return;
  arena_registry().remove(this);
  for (int i = 0; i < images_; ++i) forget_images(base(i), base(i) + extent_);
  if (RankSlots::get() != nullptr) {
    for (int i = 0; i < images_; ++i) unmap(i);
  } else {
    munmap(reinterpret_cast<void*>(arena_), stride_ * static_cast<std::uint64_t>(images_));
  }
}

Object& ImageSet::add(std::unique_ptr<ElfFile> file) {
  objects_.push_back(std::make_unique<Object>());
  objects_.back()->file = std::move(file);
  objects_.back()->set = this;
  return *objects_.back();
}

Result<void> ImageSet::lay_out() {
  find_initialisation_order();
  for (auto& object : objects_) {
    if (auto r = place(*object); !r) return r.failure();
  }
  if (auto r = place_tls(); !r) return r;
  for (auto& object : objects_) {
    place_segments(*object);
    for (DataSpan& span : object->data) spans_.emplace_back(object->at(span.begin), &span);
  }
  std::uint64_t template_size = 0;
  for (auto& object : objects_) {
    for (const DataSpan& span : object->data)
      template_size = std::max(template_size, span.template_offset + span.end - span.begin);
  }
  tls_template_ = template_size;
  template_size += page_up(tls_size_);
  if (auto r = template_.create("tmpi-image-data", template_size); !r) return r;
  // Now that the memfd exists, its number goes into the mappings; the TLS block follows the last object.
  for (Mapping& mapping : mappings_) {
    if ((mapping.protection & PROT_WRITE) != 0 && mapping.fd != -1) mapping.fd = template_.fd();
  }
  if (tls_size_ != 0) {
    add_mapping({tls_begin_, page_up(tls_size_), PROT_READ | PROT_WRITE, template_.fd(), tls_template_});
  }
  extent_ = align_up(size_, alignment_);
  std::uint64_t end = 0;
  for (const Mapping& mapping : mappings_) {
    if (mapping.image_offset != end) ++gaps_;
    end = mapping.image_offset + mapping.length;
  }
  if (end != extent_) ++gaps_;
  for (auto& object : objects_) {
    for (const Elf64_Phdr& segment : object->file->loads()) {
      if ((segment.p_flags & PF_W) == 0 || segment.p_filesz == 0) continue;
      const ElfBytes initial = part_of(object->file->bytes_at(segment.p_vaddr), 0, segment.p_filesz);
      std::memcpy(template_of(*object, segment.p_vaddr, initial.size()), initial.data(), initial.size());
    }
  }
  return {};
}

Result<void> ImageSet::place(Object& object) {
  const auto& loads = object.file->loads();
  std::uint64_t alignment = kPage;
  std::uint64_t previous_end = 0;
  for (const Elf64_Phdr& segment : loads) {
    if (segment.p_align > alignment) alignment = segment.p_align;
    if (page_down(segment.p_vaddr) < previous_end || (segment.p_vaddr - segment.p_offset) % kPage != 0) {
      return Failure{object.file->path() +
                     ": its segments share a page; relink it without -N or a linker script of your own"};
    }
    previous_end = page_up(segment.p_vaddr + segment.p_memsz);
  }
  alignment_ = std::max(alignment_, alignment);
  const std::uint64_t first = page_down(loads.front().p_vaddr);
  object.text_begin = align_up(size_ + (first % alignment == 0 ? 0 : kPage), alignment) + first % alignment;
  object.offset = object.text_begin - first;
  object.text_end = object.at(previous_end);
  size_ = object.text_end;
  if (const Elf64_Phdr* frames = object.file->segment(PT_GNU_EH_FRAME)) object.eh_frame = frames->p_vaddr;
  const Elf64_Phdr* tls = object.file->segment(PT_TLS);
  if (tls != nullptr && tls->p_memsz != 0) {
    object.tls.init = tls->p_vaddr;
    object.tls.init_size = tls->p_filesz;
    object.tls.size = tls->p_memsz;
    object.tls.alignment = std::max<std::uint64_t>(tls->p_align, 1);
  }
  return {};
}

Result<void> ImageSet::place_tls() {
  tls_begin_ = size_;
  std::uint64_t pool = 0, block = tls_begin_;
  for (auto& object : objects_) {
    TlsPlace& tls = object->tls;
    if (tls.size == 0 || tls.at_end) continue;
    std::uint64_t& next = tls.is_static ? pool : block;
    // The block keeps the segment's position within its alignment, as the compiler assumed.
    next = align_up(next, tls.alignment) + tls.init % tls.alignment;
    tls.offset = next;
    next += tls.size;
    if (!tls.is_static) {
      tls_alignment_ = std::max(tls_alignment_, tls.alignment);
      alignment_ = std::max(alignment_, tls.alignment);
    }
  }
  tls_size_ = block - tls_begin_;
  pool_size_ = align_up(pool, StaticTlsPool::kAlignment);
  size_ += page_up(tls_size_);
  return needs_thread_pointer_ ? place_in_own_pools() : Result<void>{};
}

std::uint64_t ImageSet::static_tls_size() const {
  std::uint64_t size = 0;
  for (const auto& object : objects_) {
    const Elf64_Phdr* const tls = object->file->segment(PT_TLS);
    if (object->tls.is_static && !object->tls.at_end && tls != nullptr) size += tls->p_memsz + tls->p_align;
  }
  return align_up(size, StaticTlsPool::kAlignment);
}

// The same share of each rank's pool. The linker of a program that has chosen places has counted with a block that ends,
// rounded up, where the thread pointer points to.
Result<void> ImageSet::place_in_own_pools() {
  if (pool_size_ != 0) {
    const auto share = static_tls_pool().allocate(pool_size_);
    if (!share) return share.failure();
    common_share_ = *share;
  }
  for (auto& object : objects_) {
    TlsPlace& tls = object->tls;
    if (!tls.at_end) continue;
    if (tls.alignment > StaticTlsPool::kProgramAlignment) {
      return Failure{object->file->path() + ": has thread-local variables aligned to " +
                     std::to_string(tls.alignment) +
                     " bytes, of which the linker knows the place; link it with tmpicc"};
    }
    const auto begin = static_tls_pool().take_end(align_up(tls.init + tls.size, tls.alignment) - tls.init);
    if (!begin) return Failure{object->file->path() + ": " + begin.message()};
    tls.offset = *begin - common_share_;  // may wrap around: it is added again
  }
  return {};
}

void ImageSet::place_segments(Object& object) {
  constexpr int kTemplate = -2;  // replaced by the memfd once it exists
  std::uint64_t next_template = 0;
  for (const auto& [offset, span] : spans_)
    next_template = std::max(next_template, span->template_offset + span->end - span->begin);
  const auto& loads = object.file->loads();
  for (std::size_t i = 0; i < loads.size();) {
    const Elf64_Phdr& first = loads[i];
    const std::uint64_t begin = page_down(first.p_vaddr);
    if ((first.p_flags & PF_W) == 0) {
      // Read-only segments that lie in the file as they lie in memory share one mapping, executable if any of
      // them is.
      int protection = protection_of(first);
      std::uint64_t end = first.p_vaddr + first.p_filesz;
      for (++i; i < loads.size() && (loads[i].p_flags & PF_W) == 0 &&
                loads[i].p_vaddr - loads[i].p_offset == first.p_vaddr - first.p_offset;
           ++i) {
        protection |= protection_of(loads[i]);
        end = loads[i].p_vaddr + loads[i].p_filesz;
      }
      // Reach to the next segment if that is near, so that no hole (a mapping of the arena) is left between.
      std::uint64_t length = page_up(end) - begin;
      if (i < loads.size() && page_down(loads[i].p_vaddr) - page_up(end) <= (64 << 10)) {
        length = page_down(loads[i].p_vaddr) - begin;
      }
      add_mapping({object.at(begin), length, protection, object.file->fd(), page_down(first.p_offset)});
      continue;
    }
    DataSpan span;
    span.begin = begin;
    std::uint64_t bytes_end = 0, memory_end = 0;
    for (; i < loads.size() && (loads[i].p_flags & PF_W) != 0; ++i) {
      bytes_end = loads[i].p_vaddr + loads[i].p_filesz;
      memory_end = loads[i].p_vaddr + loads[i].p_memsz;
    }
    const bool large = memory_end - bytes_end > kLargeBss;
    span.end = page_up(large ? bytes_end + kBssHead : memory_end);
    span.anonymous_end = page_up(memory_end);
    span.template_offset = next_template;
    next_template += span.end - span.begin;
    const int protection = PROT_READ | PROT_WRITE;
    add_mapping({object.at(begin), span.end - begin, protection, kTemplate, span.template_offset});
    if (large) add_mapping({object.at(span.end), span.anonymous_end - span.end, protection, -1, 0});
    object.data.push_back(span);
  }
}

void ImageSet::add_mapping(const Mapping& mapping) {
  if (!mappings_.empty()) {
    Mapping& last = mappings_.back();
    if (last.fd == mapping.fd && last.fd != -1 && last.protection == mapping.protection &&
        last.image_offset + last.length == mapping.image_offset &&
        last.file_offset + last.length == mapping.file_offset) {
      last.length += mapping.length;
      return;
    }
  }
  mappings_.push_back(mapping);
}

Result<void> ImageSet::reserve() {
  const Result<void> reserved =
      RankSlots::get() != nullptr ? reserve_in_slots(*RankSlots::get()) : reserve_arena();
  if (!reserved) return reserved;
  if (!arena_registry().add(this, arena_, stride_, extent_, images_)) {
    return Failure{"too many programs and libraries opened with dlopen in this job (at most " +
                   std::to_string(ArenaRegistry::kMax) + ")"};
  }
  return {};
}

Result<void> ImageSet::reserve_in_slots(RankSlots& slots) {
  const auto at = slots.take_image_room(extent_, alignment_);
  if (!at) return Failure{objects_.front()->file->path() + ": " + at.message()};
  arena_ = slots.begin(0) + *at;
  stride_ = slots.bytes();
  return {};
}

Result<void> ImageSet::reserve_arena() {
  stride_ = extent_;
  const std::uint64_t size = stride_ * static_cast<std::uint64_t>(images_);
  void* memory =
      mmap(nullptr, size + alignment_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return Failure{"cannot reserve " + std::to_string(size >> 20) + " MiB of address space for " +
                   std::to_string(images_) + " ranks (" + std::strerror(errno) +
                   "); check ulimit -v, or use fewer ranks per node"};
  }
  // Give back what alignment did not need, so that the arena is exactly the images.
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  arena_ = align_up(begin, alignment_);
  if (arena_ != begin) munmap(memory, arena_ - begin);
  if (arena_ + size != begin + size + alignment_) {
    munmap(reinterpret_cast<void*>(arena_ + size), begin + alignment_ - arena_);
  }
  return {};
}

Result<void> ImageSet::map(int index, int rank) {
  const std::uint64_t base = this->base(index);
  for (const Mapping& m : mappings_) {
    const int flags = MAP_PRIVATE | MAP_FIXED | (m.fd < 0 ? MAP_ANONYMOUS | MAP_NORESERVE : 0);
    void* at = reinterpret_cast<void*>(base + m.image_offset);
    if (mmap(at, m.length, m.protection, flags, m.fd, static_cast<off_t>(m.file_offset)) == MAP_FAILED) {
      const char* hint =
          errno == ENOMEM ? "; the limit on mappings (sysctl vm.max_map_count) or memory is used up" : "";
      return Failure{"cannot map the image of rank " + std::to_string(rank) + ": " + std::strerror(errno) +
                     hint};
    }
    if (m.fd == TemplateMemory::kNone) std::memcpy(at, template_.bytes() + m.file_offset, m.length);
  }
  if (auto r = take_pool_share(index); !r) return r;
  ranks_[static_cast<std::size_t>(index)].store(rank, std::memory_order_relaxed);
  correct(index, base);
  return {};
}

Result<void> ImageSet::take_pool_share(int index) {
  if (needs_thread_pointer_) pool_offsets_[index] = common_share_;
  if (pool_size_ == 0 || pool_offsets_[index] != 0) return {};
  const auto offset = static_tls_pool().allocate(pool_size_);
  if (!offset) return offset.failure();
  pool_offsets_[index] = *offset;
  return {};
}

void ImageSet::correct(int index, std::uint64_t base) {
  // A pointer in a packed structure lies anywhere.
  auto add = [base](std::uint64_t slot, std::uint64_t amount) {
    auto* place = reinterpret_cast<std::byte*>(base + slot);
    std::uint64_t word;
    std::memcpy(&word, place, sizeof word);
    word += amount;
    std::memcpy(place, &word, sizeof word);
  };
  for (const std::uint64_t slot : fixups_.own) add(slot, base);
  for (const auto& [set, slots] : fixups_.foreign) {
    const std::uint64_t other = set->base(index);
    for (const std::uint64_t slot : slots) add(slot, other);
  }
  for (const std::uint64_t slot : fixups_.pool) add(slot, pool_offsets_[index]);
}

void ImageSet::unmap(int index) {
  ranks_[static_cast<std::size_t>(index)].store(-1, std::memory_order_relaxed);
  // Cannot fail in a way that matters: the addresses stay ours either way.
  static_cast<void>(mmap(reinterpret_cast<void*>(base(index)), extent_, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

std::byte* ImageSet::template_at(std::uint64_t image_offset, std::uint64_t size) {
  auto inside = [&](std::uint64_t begin, std::uint64_t length) {
    return image_offset >= begin && image_offset - begin < length && size <= length - (image_offset - begin);
  };
  for (const auto& [begin, span] : spans_) {
    if (inside(begin, span->end - span->begin))
      return template_.bytes() + span->template_offset + (image_offset - begin);
  }
  if (inside(tls_begin_, tls_size_)) return template_.bytes() + tls_template_ + (image_offset - tls_begin_);
  return nullptr;
}

void ImageSet::fill_tls_block() {
  for (auto& object : objects_) {
    const TlsPlace& tls = object->tls;
    if (tls.init_size == 0 || tls.is_static) continue;
    std::byte* block = template_at(tls.offset, tls.init_size);
    const std::byte* initial = template_of(*object, tls.init, tls.init_size);
    const ElfBytes constant = part_of(object->file->bytes_at(tls.init), 0, tls.init_size);
    if (initial == nullptr && !constant.empty()) initial = constant.data();  // in a read-only segment
    if (initial != nullptr) std::memcpy(block, initial, tls.init_size);
    const std::uint64_t begin = object->at(tls.init), end = begin + tls.init_size;
    auto copy_slots = [&](std::vector<std::uint64_t>& slots) {
      const std::size_t count = slots.size();
      for (std::size_t i = 0; i < count; ++i) {
        if (slots[i] >= begin && slots[i] < end && end - slots[i] >= sizeof(std::uint64_t))
          slots.push_back(slots[i] - begin + tls.offset);
      }
    };
    copy_slots(fixups_.own);
    for (auto& [set, slots] : fixups_.foreign) copy_slots(slots);
  }
}

const Object* ImageSet::object_at(std::uint64_t image_offset) const noexcept {
  for (const auto& object : objects_) {
    if (image_offset >= object->text_begin && image_offset < object->text_end) return object.get();
  }
  return nullptr;
}

void ImageSet::find_initialisation_order() {
  std::vector<const Object*> visited;
  std::function<void(const Object*)> visit = [&](const Object* object) {
    if (object->set != this || std::find(visited.begin(), visited.end(), object) != visited.end()) return;
    visited.push_back(object);
    for (const Object* needed : object->needed) visit(needed);
    order_.push_back(object);
  };
  for (const auto& object : objects_) visit(object.get());
}

bool ImageSet::needs_exec_stack() const {
  return std::any_of(objects_.begin(), objects_.end(), [](const auto& object) {
    const Elf64_Phdr* stack = object->file->segment(PT_GNU_STACK);
    return stack != nullptr && (stack->p_flags & PF_X) != 0;
  });
}

}  // namespace tmpi::privatize
