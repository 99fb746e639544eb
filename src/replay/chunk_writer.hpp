// ChunkFile: a node process's chunks of the file of --record. ChunkWriter: those of one rank, written in order. What is
// written is in the file at once, whatever becomes of the process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "replay/record_file.hpp"

namespace tmpi::replay {

class ChunkFile {
 public:
  /// tmpirun has made the file. `node`: the number of this node process among header.nodes.
  static Result<std::unique_ptr<ChunkFile>> open(const std::string& path, int node);
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;
  ~ChunkFile();

  /// A page of the file that nobody has, mapped and zero. Null: there is no more room; `why()` says why from then on. Any
  /// thread.
  std::byte* take() noexcept;
  static void give_back(std::byte* chunk) noexcept;

  bool full() const noexcept { return error_.load(std::memory_order_relaxed) != 0; }
  std::string why() const;

 private:
  ChunkFile(int fd, std::size_t begin, int node, int nodes)
      : fd_(fd), begin_(begin), node_(node), nodes_(nodes) {}

  const int fd_;
  const std::size_t begin_;
  const int node_;
  const int nodes_;
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<int> error_{0};
};

/// By one thread at a time.
class ChunkWriter {
 public:
  ChunkWriter(ChunkFile& file, int rank) : file_(&file), rank_(rank) {}
  ~ChunkWriter();
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  /// The bytes of one choice. The first, which is not 0, is written last: who reads the file of a process that has died finds
  /// all of a choice or nothing.
  void append(std::string_view choice) noexcept;
  /// These bytes in the place of those that were appended last, and are not longer. False if there is no room for them.
  bool replace_last(std::string_view choice) noexcept;

 private:
  std::byte* next_chunk() noexcept;
  void append_across(std::string_view choice) noexcept;

  ChunkFile* file_;
  int rank_;
  std::uint32_t chunks_ = 0;
  std::byte* chunk_ = nullptr;
  std::size_t used_ = kChunkSize;
  std::byte* last_ = nullptr;  ///< null: it cannot be replaced
};

}  // namespace tmpi::replay
