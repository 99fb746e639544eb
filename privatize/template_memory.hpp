// TemplateMemory: the memfd that holds the initial contents of an image's writable pages. Written once
// through a shared mapping, mapped privately by every image. Under a limit on the size of files that is smaller
// (ulimit -f), and cannot be raised, there is no file, and every image copies the bytes.
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

  /// The file; kNone: there is none, what bytes() shows is to be copied.
  int fd() const { return fd_; }
  static constexpr int kNone = -2;
  std::byte* bytes() { return bytes_; }

 private:
  int fd_ = kNone;
  std::byte* bytes_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace tmpi::privatize
