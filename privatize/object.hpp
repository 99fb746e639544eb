// Object: one ELF file at its place in an ImageSet. Plain data, filled in by layout and relocation, constant
// once images exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/platform.hpp"
#include "privatize/elf_file.hpp"

namespace tmpi::privatize {

class ImageSet;

constexpr std::uint64_t kPage = kPageSize;
constexpr std::uint64_t page_down(std::uint64_t value) {
  return value & ~(kPage - 1);
}
constexpr std::uint64_t page_up(std::uint64_t value) {
  return (value + kPage - 1) & ~(kPage - 1);
}
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Where an object's thread-local variables live. Offsets are of the initialisation image's first byte.
struct TlsPlace {
  std::uint64_t init = 0;  ///< address of the initialised part in the file
  std::uint64_t init_size = 0;
  std::uint64_t size = 0;  ///< 0: the object has none
  std::uint64_t alignment = 1;
  std::uint64_t offset =
      0;  ///< in the image (ordinary) or in the rank's share of the static pool (is_static)
  bool is_static =
      false;            ///< somebody uses the initial-exec model on it (libgomp): it lives in the static pool
  bool at_end = false;  ///< is_static, at its end: of a program that a plain compiler has linked
};

/// A writable span of an object, kept in the set's template. [begin, end) are page-aligned addresses of the
/// file; what follows end is anonymous memory up to anonymous_end (large .bss).
struct DataSpan {
  std::uint64_t begin = 0, end = 0, anonymous_end = 0;
  std::uint64_t template_offset = 0;
};

struct Object {
  std::unique_ptr<ElfFile> file;
  ImageSet* set = nullptr;
  std::uint64_t offset = 0;  ///< in the image, of the file's address 0
  std::uint64_t text_begin = 0,
                text_end = 0;  ///< the object's whole address range in the image, page-aligned
  std::uint64_t eh_frame = 0;  ///< address in the file of .eh_frame_hdr, 0 if it has none
  std::vector<DataSpan> data;
  TlsPlace tls;
  std::vector<Object*> needed;  ///< private libraries it depends on, in order

  /// Offset in the image of an address of the file.
  std::uint64_t at(std::uint64_t vaddr) const { return offset + vaddr; }
};

}  // namespace tmpi::privatize
