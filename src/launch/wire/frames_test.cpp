#include "launch/wire/frames.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

namespace tmpi::launch {
namespace {

void feed(FrameReader& reader, std::string_view bytes) {
  std::memcpy(reader.room(bytes.size()), bytes.data(), bytes.size());
  reader.filled(bytes.size());
}

TEST_CASE("frames survive any division of the stream") {
  std::string stream;
  for (int i = 0; i < 500; ++i)
    append_frame(stream, FrameType::kOutput, i, 1, std::string(static_cast<std::size_t>(i * 7 % 300), 'x'));
  std::mt19937 random(1);
  FrameReader reader;
  int seen = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t piece = std::min<std::size_t>(1 + random() % 97, stream.size() - at);
    feed(reader, std::string_view(stream).substr(at, piece));
    at += piece;
    for (Frame frame{}; reader.next(frame) == FrameReader::Status::kFrame; ++seen) {
      REQUIRE(frame.header.rank == seen);
      REQUIRE(frame.payload == std::string(static_cast<std::size_t>(seen * 7 % 300), 'x'));
    }
  }
  CHECK(seen == 500);
}

TEST_CASE("a secret is overwritten when its frame has been read") {
  const std::string secret(5000, 's');
  std::string stream;
  append_frame(stream, FrameType::kWayEnd, -1, 0, "other");
  append_frame(stream, FrameType::kWayPrepare, -1, 0, secret);
  append_frame(stream, FrameType::kWayEnd, -1, 0, "last");
  FrameReader reader;
  feed(reader, stream);
  Frame frame{}, last{};
  REQUIRE(reader.next(frame) == FrameReader::Status::kFrame);
  REQUIRE(reader.next(frame) == FrameReader::Status::kFrame);
  CHECK(frame.payload == secret);
  REQUIRE(reader.next(last) == FrameReader::Status::kFrame);
  CHECK(frame.payload == std::string(secret.size(), '\0'));
  CHECK(last.payload == "last");
  stream.clear();
  append_frame(stream, FrameType::kJob, -1, 0, secret);
  feed(reader, stream);
  REQUIRE(reader.next(frame) == FrameReader::Status::kFrame);
  reader.room(1);
  CHECK(frame.payload == std::string(secret.size(), '\0'));
}

TEST_CASE("a foreign stream is refused, without a large allocation") {
  FrameReader reader;
  feed(reader, "GET / HTTP/1.1\r\n");
  Frame frame{};
  CHECK(reader.next(frame) == FrameReader::Status::kGarbage);
}

}  // namespace
}  // namespace tmpi::launch
