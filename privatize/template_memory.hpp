// TemplateMemory: the memfd that holds the initial contents of an image's writable pages. Written once
// through a shared mapping, mapped privately by every image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"

namespace tmpi::privatize {

class TemplateMemory {
 public:
  TemplateMemory() = default;
  ~TemplateMemory();
  TemplateMemory(const TemplateMemory&) = delete;
  TemplateMemory& operator=(const TemplateMemory&) = delete;

  /// Creates `size` zero bytes (a multiple of the page size). Pages never written cost nothing.
  Result<void> create(const char* name, std::uint64_t size);

  int fd() const { return fd_; }
  std::byte* bytes() { return bytes_; }

 private:
  int fd_ = -1;
  std::byte* bytes_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace tmpi::privatize
