// Thread-local variables of code in images. The module word of a pair in an image's offset table is the
// address of the rank's own block, so that __tls_get_addr is an addition; only helper threads (created by a
// rank with pthread_create) need a look-up of their own copy. docs/design/privatization.md, "Thread-local
// variables".
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace tmpi::privatize {

class ImageSet;
struct Object;

struct TlsIndex {
  std::uint64_t
      module;  ///< below 2^32: a module of the dynamic linker; else the address of a block in an image
  std::uint64_t offset;
};

/// What code in images calls as __tls_get_addr.
extern "C" void* tmpi_tls_get_addr(TlsIndex* index);

/// Functions for the first word of a TLS descriptor; they keep all registers but rax. The second word is ...
struct TlsDescriptorFunctions {
  std::uint64_t image;     ///< ... the address of the variable in the rank's block
  std::uint64_t constant;  ///< ... its distance from the thread pointer
  std::uint64_t system;    ///< ... the address of a TlsIndex of a system library's variable
};
TlsDescriptorFunctions tls_descriptor_functions() noexcept;

/// Distance of a system library's thread-local block from the thread pointer, if it is the same in every
/// thread.
Result<std::int64_t> system_thread_pointer_offset(link_map* map);

/// Initialises image `index`'s share of the static pool in the calling thread.
void initialise_static_tls(const ImageSet& set, int index) noexcept;

/// Address in the calling thread of a thread-local variable whose object lives in the static pool.
void* static_tls_address(const ImageSet& set, int index, const Object& object, std::uint64_t offset) noexcept;

/// The calling helper thread's copies of images' blocks; made when first used.
class TlsCopies {
 public:
  TlsCopies() = default;
  ~TlsCopies();
  TlsCopies(const TlsCopies&) = delete;
  TlsCopies& operator=(const TlsCopies&) = delete;
  /// The copy's counterpart of `address`, which lies in the TLS block of an image.
  std::byte* translate(std::uint64_t address);

 private:
  struct Copy {
    std::uint64_t block;  // address of the block in the image
    std::byte* memory;
    Copy* next;
  };
  Copy* first_ = nullptr;
};

}  // namespace tmpi::privatize
