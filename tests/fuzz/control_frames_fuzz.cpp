// The control channel's frames and what is packed into them: no read past the end, no allocation that only a
// length in the stream asks for, the same frames however the stream is cut; what lists of fields (launch/wire/fields.hpp)
// have read is written as it was read.
#include <cstring>

#include "launch/spec/world_spec.hpp"
#include "launch/wire/frames.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace tmpi::launch;
using tmpi::fuzz::Bytes;
using tmpi::fuzz::require;

struct Outcome {
  std::size_t frames = 0;
  std::uint64_t digest = 0xcbf29ce484222325u;
  bool garbage = false;

  void note(std::uint64_t value) { digest = (digest ^ value) * 0x100000001b3u; }
};

void unpack(std::string_view payload, Outcome& outcome) {
  Unpacker unpacker(payload);
  std::vector<std::string> texts;
  outcome.note(static_cast<std::uint64_t>(unpacker.number()));
  outcome.note(unpacker.text().size());
  unpacker.texts(texts);
  require(texts.size() <= payload.size());
  outcome.note(texts.size());
  outcome.note(unpacker.ok());
}

template <class Record>
void read_and_write(tmpi::Result<Record> (*unpack_record)(std::string_view), std::string_view payload) {
  const tmpi::Result<Record> record = unpack_record(payload);
  if (!record) return;
  const std::string bytes = pack(*record);
  require(bytes.size() == payload.size());
  const tmpi::Result<Record> again = unpack_record(bytes);
  require(again && pack(*again) == bytes);
}

void unpack_records(std::string_view payload) {
  read_and_write(&unpack_spawn_request, payload);
  read_and_write(&unpack_world_spec, payload);
  read_and_write(&unpack_world_ready, payload);
  read_and_write(&unpack_world_start, payload);
}

// False when the stream is not ours.
bool feed(FrameReader& reader, std::span<const std::byte> bytes, Outcome& outcome) {
  std::memcpy(reader.room(bytes.size()), bytes.data(), bytes.size());
  reader.filled(bytes.size());
  for (Frame frame{};;) {
    const FrameReader::Status status = reader.next(frame);
    if (status == FrameReader::Status::kGarbage) outcome.garbage = true;
    if (status != FrameReader::Status::kFrame) return !outcome.garbage;
    ++outcome.frames;
    require(frame.payload.size() == frame.header.length);
    outcome.note(static_cast<std::uint64_t>(frame.header.type) << 32 | frame.header.detail);
    outcome.note(static_cast<std::uint64_t>(frame.header.rank));
    for (const char byte : frame.payload) outcome.note(static_cast<std::uint8_t>(byte));
    unpack(frame.payload, outcome);
    unpack_records(frame.payload);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  Packer packer;
  packer.number(-3);
  packer.text("a sentence");
  packer.texts(std::vector<std::string>{"one", "", "three"});
  std::string stream;
  append_frame(stream, FrameType::kHello, -1, 0, std::string(12, 'h'));
  append_frame(stream, FrameType::kJob, -1, 0, packer.bytes());
  append_frame(stream, FrameType::kOutput, 3, 1, std::string(700, 'x'));
  const SpawnRequest wanted{7, {{2, "./worker", {"-v", ""}, "/tmp", "", "localhost"}}, "link"};
  append_frame(stream, FrameType::kOutput, 0, 0, pack(WorldSpec{1, 4, {0, 1}, wanted, 3}));
  append_frame(stream, FrameType::kOutput, 0, 0, pack(WorldReady{1, {{-1, "no such file"}}, true}));
  append_frame(stream, FrameType::kOutput, 0, 0, pack(WorldStart{1, 4, 3, 7, {}}));
  append_frame(stream, FrameType::kDone, -1, 0, "");
  const auto bytes = std::as_bytes(std::span(stream));
  tmpi::fuzz::write_seed(*argc, *argv, "frames", {bytes.begin(), bytes.end()});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tmpi::fuzz::Input input(data, size);
  Outcome whole, pieces;
  FrameReader one, other;
  if (!input.stream().empty()) feed(one, input.stream(), whole);
  input.in_pieces([&](std::span<const std::byte> piece) { return feed(other, piece, pieces); });
  require(whole.frames == pieces.frames && whole.digest == pieces.digest && whole.garbage == pieces.garbage);
  return 0;
}
