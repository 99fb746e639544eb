// ImageSet: objects laid out at fixed relative offsets, mapped together once per rank. A rank's program with
// the shim and its private libraries is one set; what a rank opens with dlopen makes further sets beside it.
// Built by one thread, then constant, except that images are mapped: any thread, different indices in
// parallel.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "privatize/object.hpp"
#include "privatize/ownership.hpp"
#include "privatize/template_memory.hpp"

namespace tmpi::privatize {

/// Words that need a per-image correction after mapping, as offsets in the image. Everything else is right in
/// the template.
struct Fixups {
  std::vector<std::uint64_t> own;  ///< += base of the image
  std::vector<std::pair<const ImageSet*, std::vector<std::uint64_t>>>
      foreign;                      ///< += base of the same rank's image of that set
  std::vector<std::uint64_t> pool;  ///< += offset of the rank's share of the static TLS pool

  std::vector<std::uint64_t>& of(const ImageSet* owner, const ImageSet* target);
};

class Scope;
class RankSlots;

/// Another MPI's library that a file names and that would be found; tmpi stands in for it.
struct ReplacedLibrary {
  std::string name;  ///< as it was asked for
  std::string path;
};

class ImageSet {
 public:
  /// Places for `images`, of which `expected` will be mapped: all, but for slots (rank_slots.hpp), where ranks of other node
  /// processes have places as well.
  ImageSet(int images, int expected)
      : images_(images),
        expected_(expected),
        ranks_(static_cast<std::size_t>(images)),
        pool_offsets_(images, 0) {
    for (auto& rank : ranks_) rank.store(-1, std::memory_order_relaxed);
  }
  ~ImageSet();
  ImageSet(const ImageSet&) = delete;
  ImageSet& operator=(const ImageSet&) = delete;

  // Building, in this order: add objects, lay out, (relocate: relocation.hpp), reserve.
  Object& add(std::unique_ptr<ElfFile> file);
  Result<void> lay_out();
  Result<void> reserve();

  /// Maps image `index` for `rank` and corrects its words.
  Result<void> map(int index, int rank);
  /// Unmaps it again (address space stays reserved): a rank's last dlclose, or calibration.
  void unmap(int index);

  int images() const { return images_; }
  int expected() const { return expected_; }
  /// -1: not mapped. Any thread: while ranks of one program begin, another one is loaded.
  int rank(int index) const {
    return ranks_[static_cast<std::size_t>(index)].load(std::memory_order_relaxed);
  }
  /// Bytes of addresses that an image takes.
  std::uint64_t extent() const { return extent_; }
  std::uint64_t base(int index) const { return arena_ + stride_ * static_cast<std::uint64_t>(index); }
  /// Calls use(address, bytes) for what image `index` can write to; whole pages.
  template <class Use>
  void for_each_writable(int index, Use&& use) const {
    for (const Mapping& mapping : mappings_) {
      if ((mapping.protection & PROT_WRITE) != 0) use(base(index) + mapping.image_offset, mapping.length);
    }
  }
  std::vector<std::unique_ptr<Object>>& objects() { return objects_; }
  const std::vector<std::unique_ptr<Object>>& objects() const { return objects_; }
  const Object* object_at(std::uint64_t image_offset) const noexcept;
  /// What is needed comes before what needs it. After lay_out().
  const std::vector<const Object*>& initialisation_order() const { return order_; }

  /// The TLS block's place in the image; empty if no object has ordinary thread-local variables.
  std::uint64_t tls_begin() const { return tls_begin_; }
  std::uint64_t tls_size() const { return tls_size_; }
  std::uint64_t tls_alignment() const { return tls_alignment_; }
  std::uint64_t static_tls_size() const;  ///< bytes of the pool that a rank needs, at most; before lay_out()
  bool has_static_tls() const { return pool_size_ != 0 || needs_thread_pointer_; }
  /// Its ranks run with a thread pointer of their own (own_thread_pointer.hpp), so that all have the same share.
  bool needs_thread_pointer() const { return needs_thread_pointer_; }
  void need_thread_pointer() { needs_thread_pointer_ = true; }
  std::uint64_t pool_offset(int index) const { return pool_offsets_[index]; }

  /// `size` bytes of the template behind an offset of the image; null where they are not (code, anonymous
  /// .bss).
  std::byte* template_at(std::uint64_t image_offset, std::uint64_t size);
  std::byte* template_of(const Object& object, std::uint64_t vaddr, std::uint64_t size) {
    return template_at(object.at(vaddr), size);
  }
  Fixups& fixups() { return fixups_; }
  const Fixups& fixups() const { return fixups_; }

  /// Copies the relocated initial values of thread-local variables into the template's TLS block. After
  /// relocation.
  void fill_tls_block();

  /// Where its symbols are searched; after building.
  const Scope& scope() const { return *scope_; }
  void keep_scope(std::shared_ptr<const Scope> scope) { scope_ = std::move(scope); }
  /// What the user has said of libraries; for those opened later.
  const LibraryChoices& libraries() const { return libraries_; }
  void set_libraries(const LibraryChoices& libraries) { libraries_ = libraries; }

  /// The file that ranks take for their program's: of the first object, or of what that takes the place of.
  const std::string& program_file() const {
    return stands_for_.empty() ? objects_.front()->file->path() : stands_for_;
  }
  void set_stands_for(const std::string& path) { stands_for_ = path; }

  const std::vector<ReplacedLibrary>& replaced() const { return replaced_; }
  void note_replaced(ReplacedLibrary library) { replaced_.push_back(std::move(library)); }

  std::size_t mappings_per_image() const { return mappings_.size() + gaps_; }
  bool needs_exec_stack() const;

 private:
  struct Mapping {
    std::uint64_t image_offset, length;
    int protection;
    int fd;  // -1: anonymous
    std::uint64_t file_offset;
  };
  void find_initialisation_order();
  Result<void> place(Object& object);
  void place_segments(Object& object);
  Result<void> place_tls();
  Result<void> place_in_own_pools();
  void add_mapping(const Mapping& mapping);
  void correct(int index, std::uint64_t base);
  Result<void> reserve_in_slots(RankSlots& slots);
  Result<void> reserve_arena();
  Result<void> take_pool_share(int index);

  const int images_, expected_;
  std::vector<std::unique_ptr<Object>> objects_;
  std::vector<const Object*> order_;
  std::vector<std::atomic<int>> ranks_;  // relaxed: only the value matters
  std::vector<std::uint64_t> pool_offsets_;
  std::shared_ptr<const Scope> scope_;
  LibraryChoices libraries_;
  std::string stands_for_;
  std::vector<ReplacedLibrary> replaced_;
  TemplateMemory template_;
  std::vector<Mapping> mappings_;
  std::vector<std::pair<std::uint64_t, DataSpan*>> spans_;  // (image offset of the span's begin, span)
  Fixups fixups_;
  std::uint64_t size_ = 0, alignment_ = kPage, extent_ = 0, stride_ = 0, arena_ = 0;
  std::uint64_t tls_begin_ = 0, tls_size_ = 0, tls_alignment_ = 1, tls_template_ = 0;
  std::uint64_t pool_size_ = 0;     // bytes of static TLS per rank
  std::uint64_t common_share_ = 0;  // offset in the pool, if they are the same for all ranks
  bool needs_thread_pointer_ = false;
  std::size_t gaps_ = 0;
};

}  // namespace tmpi::privatize
