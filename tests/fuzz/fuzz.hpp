// What the fuzz targets share: the input cut into pieces as a network might, and seeds for the corpus.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace tmpi::fuzz {

using Bytes = std::vector<std::byte>;

/// What must hold whatever the input is.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

/// The first bytes of an input say how the rest is cut; the rest is the stream.
class Input {
 public:
  static constexpr std::size_t kHead = 8;

  Input(const std::uint8_t* data, std::size_t size)
      : head_(data, std::min(size, kHead)),
        stream_(reinterpret_cast<const std::byte*>(data) + head_.size(), size - head_.size()) {}

  std::uint8_t choice(std::size_t i) const { return i < head_.size() ? head_[i] : 0; }
  std::span<const std::byte> stream() const { return stream_; }
  /// Calls take(piece) until the stream is over or take() is false. Pieces of 1 to 256 bytes, or the whole.
  template <class Take>
  void in_pieces(Take take) const {
    for (std::size_t at = 0, turn = 2; at < stream_.size(); ++turn) {
      const std::size_t wish = 1 + std::size_t{choice(2 + turn % (kHead - 2))} * (turn % 3 == 0 ? 40 : 1);
      const std::size_t piece = std::min(wish, stream_.size() - at);
      if (!take(stream_.subspan(at, piece))) return;
      at += piece;
    }
  }

 private:
  std::span<const std::uint8_t> head_;
  std::span<const std::byte> stream_;
};

/// Puts a seed into the corpus, the directory that the fuzzer is called with.
inline void write_seed(int argc, char** argv, const char* name, const Bytes& stream,
                       std::uint8_t choice = 0) {
  for (int i = 1; i < argc; ++i) {
    struct stat status;
    if (argv[i][0] == '-' || stat(argv[i], &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    std::FILE* file = std::fopen((std::string(argv[i]) + "/seed-" + name).c_str(), "w");
    require(file != nullptr);
    const std::uint8_t head[Input::kHead] = {choice, 0, 255, 3, 40, 0, 255, 17};
    std::fwrite(head, 1, sizeof head, file);
    std::fwrite(stream.data(), 1, stream.size(), file);
    std::fclose(file);
    return;
  }
}

}  // namespace tmpi::fuzz
