#include "privatize/template_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_size_limit.hpp"

namespace tmpi::privatize {

TemplateMemory::~TemplateMemory() {
  if (bytes_ != nullptr) munmap(bytes_, size_);
  if (fd_ >= 0) close(fd_);
}

Result<void> TemplateMemory::create(const char* name, std::uint64_t size) {
  if (size == 0) return {};
  auto failed = [](const char* what) {
    return Failure{std::string("no memory for the program's initial data: ") + what + ": " +
                   std::strerror(errno)};
  };
  const UnlimitedFiles unlimited;
  if (!UnlimitedFiles::allow(size)) {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return failed("mmap");
    bytes_ = static_cast<std::byte*>(memory);
    size_ = size;
    return {};
  }
  fd_ = memfd_create(name, MFD_CLOEXEC);
  if (fd_ == -1) return failed("memfd_create");
  if (ftruncate(fd_, static_cast<off_t>(size)) != 0) return failed("ftruncate");
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) return failed("mmap");
  bytes_ = static_cast<std::byte*>(memory);
  size_ = size;
  return {};
}

}  // namespace tmpi::privatize
