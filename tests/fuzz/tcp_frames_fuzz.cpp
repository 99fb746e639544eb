// tcp's frame parser: whatever comes, in whatever pieces, the sink is called in order and buffers are kept
// to; and the division into pieces makes no difference.
#include <cstring>

#include "net/tcp/frame_parser.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace tmpi::net;
using namespace tmpi::net::tcp;
using tmpi::fuzz::Bytes;
using tmpi::fuzz::require;

class Recorder final : public Sink {
 public:
  explicit Recorder(std::size_t room) : buffer_(room) {}

  Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                   std::size_t payload) noexcept override {
    require(peer == 5 && !open_ && header.size() <= kMostHeader);
    open_ = true;
    note(id);
    for (const std::byte byte : header) note(static_cast<std::uint64_t>(byte));
    note(payload);
    expected_ = std::min(payload, buffer_.size());
    return {buffer_.data(), buffer_.size(), this};
  }
  void landed(int peer, void* token) noexcept override {
    require(peer == 5 && open_ && token == this);
    open_ = false;
    for (std::size_t i = 0; i < expected_; ++i) note(static_cast<std::uint64_t>(buffer_[i]));
  }
  void lost(int, const std::string&) noexcept override { require(false); }

  std::uint64_t digest() const { return digest_; }

 private:
  void note(std::uint64_t value) { digest_ = (digest_ ^ value) * 0x100000001b3u; }

  Bytes buffer_;
  bool open_ = false;
  std::size_t expected_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325u;
};

void append(Bytes& stream, FrameKind kind, std::uint8_t id, std::size_t header, std::size_t payload) {
  const FrameHeader frame{kind, id, static_cast<std::uint16_t>(header), 0, payload};
  const auto* bytes = reinterpret_cast<const std::byte*>(&frame);
  stream.insert(stream.end(), bytes, bytes + sizeof frame);
  stream.resize(stream.size() + header + payload, std::byte{id});
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  Bytes stream;
  for (std::size_t i = 0; i < 6; ++i)
    append(stream, FrameKind::kMessage, static_cast<std::uint8_t>(i), i * 9, i * i * 13);
  append(stream, FrameKind::kGoodbye, 0, 0, 0);
  tmpi::fuzz::write_seed(*argc, *argv, "messages", stream);
  Bytes large;
  append(large, FrameKind::kMessage, 1, kMostHeader, 3000);
  append(large, FrameKind::kMessage, 2, 0, 0);
  tmpi::fuzz::write_seed(*argc, *argv, "large", large, 3);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tmpi::fuzz::Input input(data, size);
  const std::size_t room = std::size_t{input.choice(0)} * 16;
  Recorder whole_sink(room), sink(room);
  FrameParser whole(5, whole_sink), parser(5, sink);
  const bool fine = whole.take(input.stream());
  bool still_fine = true;
  std::size_t turn = 0;
  input.in_pieces([&](std::span<const std::byte> piece) {
    const iovec direct = parser.direct();
    if (direct.iov_len != 0 && (input.choice(1) >> (++turn % 8) & 1) != 0) {
      require(direct.iov_len <= room);
      const std::size_t bytes = std::min(direct.iov_len, piece.size());
      std::memcpy(direct.iov_base, piece.data(), bytes);
      parser.took_direct(bytes);
      piece = piece.subspan(bytes);
    }
    return still_fine = parser.take(piece);
  });
  require(still_fine == fine && sink.digest() == whole_sink.digest());
  require(parser.said_goodbye() == whole.said_goodbye());
  require(parser.counts().messages == whole.counts().messages);
  return 0;
}
