#include "replay/chunk_writer.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "mpi/io/size_limit.hpp"

namespace tmpi::replay {
namespace {

/// What follows the first byte, then that one: release, so that the compiler keeps the order (the reader comes when the
/// writer is gone).
void write_choice(std::byte* place, std::string_view choice) noexcept {
  memcpy(place + 1, choice.data() + 1, choice.size() - 1);
  std::atomic_ref(*reinterpret_cast<char*>(place)).store(choice.front(), std::memory_order_release);
}

/// Written, not only reserved: where the disk is full, this says so and not a signal. 0 or an errno.
int write_zeros(int fd, off_t offset) noexcept {
  static constexpr char kZeros[kChunkSize] = {};
  const mpi::SizeLimit limit;  // also outside of calls of MPI: the signal would be the rank's
  errno = 0;
  if (pwrite(fd, kZeros, sizeof kZeros, offset) == static_cast<ssize_t>(sizeof kZeros)) return 0;
  return errno == 0 ? ENOSPC : errno;
}

}  // namespace

Result<std::unique_ptr<ChunkFile>> ChunkFile::open(const std::string& path, int node) {
  const Result<RecordHeader> header = read_record_header(path);
  if (!header) return header.failure();
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return Failure{fmt::format("cannot write to the file: {}", strerror(errno))};
  return std::unique_ptr<ChunkFile>(new ChunkFile(fd, chunks_begin(*header), node, header->nodes));
}

ChunkFile::~ChunkFile() {
  close(fd_);
}

std::byte* ChunkFile::take() noexcept {
  if (full()) return nullptr;
  const std::uint64_t number = taken_.fetch_add(1, std::memory_order_relaxed);
  const auto offset = static_cast<off_t>(
      begin_ +
      (number * static_cast<std::uint64_t>(nodes_) + static_cast<std::uint64_t>(node_)) * kChunkSize);
  int error = write_zeros(fd_, offset);
  if (error == 0) {
    void* const place = mmap(nullptr, kChunkSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
    if (place != MAP_FAILED) return static_cast<std::byte*>(place);
    error = errno;
  }
  error_.store(error, std::memory_order_relaxed);
  return nullptr;
}

void ChunkFile::give_back(std::byte* chunk) noexcept {
  munmap(chunk, kChunkSize);
}

std::string ChunkFile::why() const {
  return strerror(error_.load(std::memory_order_relaxed));
}

ChunkWriter::~ChunkWriter() {
  if (chunk_ != nullptr) ChunkFile::give_back(chunk_);
}

std::byte* ChunkWriter::next_chunk() noexcept {
  std::byte* const chunk = file_->take();
  if (chunk == nullptr) return nullptr;
  const ChunkHeader header{static_cast<std::uint32_t>(rank_ + 1), chunks_++};
  memcpy(chunk, &header, sizeof header);
  used_ = sizeof header;
  return chunk;
}

void ChunkWriter::append(std::string_view choice) noexcept {
  if (choice.size() > kChunkSize - used_) return append_across(choice);
  last_ = chunk_ + used_;
  used_ += choice.size();
  write_choice(last_, choice);
}

void ChunkWriter::append_across(std::string_view choice) noexcept {
  last_ = nullptr;
  if (file_->full()) {
    used_ = kChunkSize;  // nothing is written behind the gap
    return;
  }
  std::byte* first = nullptr;  // of the choice's bytes, where it stands
  std::byte* first_chunk = nullptr;
  for (std::size_t done = 0; done < choice.size();) {
    if (used_ == kChunkSize) {
      std::byte* const next = next_chunk();
      if (next == nullptr) break;
      if (chunk_ != nullptr && chunk_ != first_chunk) ChunkFile::give_back(chunk_);
      chunk_ = next;
    }
    const std::size_t length = std::min(choice.size() - done, kChunkSize - used_);
    std::byte* const place = chunk_ + used_;
    const std::size_t skipped = done == 0 ? 1 : 0;
    if (done == 0) first = place, first_chunk = chunk_;
    memcpy(place + skipped, choice.data() + done + skipped, length - skipped);
    used_ += length;
    done += length;
  }
  if (!file_->full())
    std::atomic_ref(*reinterpret_cast<char*>(first)).store(choice.front(), std::memory_order_release);
  if (first_chunk != nullptr && first_chunk != chunk_) ChunkFile::give_back(first_chunk);
}

bool ChunkWriter::replace_last(std::string_view choice) noexcept {
  if (last_ == nullptr || last_ + choice.size() > chunk_ + kChunkSize) return false;
  write_choice(last_, choice);
  used_ = static_cast<std::size_t>(last_ - chunk_) + choice.size();
  return true;
}

}  // namespace tmpi::replay
