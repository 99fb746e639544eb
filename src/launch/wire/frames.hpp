// FrameReader takes a byte stream apart into frames; append_frame puts one together; Packer and Unpacker do
// the same inside a payload. No I/O here, no thread-safety needed: each belongs to one thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "launch/wire/wire.hpp"

namespace tmpi::launch {

/// A frame inside a reader's buffer; the payload is valid until the reader's next room(), or next() if a secret is in it,
/// which is overwritten then.
struct Frame {
  FrameHeader header;
  std::string_view payload;
};

class FrameReader {
 public:
  enum class Status { kFrame, kIncomplete, kGarbage };

  /// Room for at least `wanted` more bytes; the caller reads into it and then says how many came.
  char* room(std::size_t wanted);
  void filled(std::size_t bytes) { end_ += bytes; }
  /// Bytes that have come another way.
  void add(std::string_view bytes) {
    std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
    filled(bytes.size());
  }

  /// The next frame, if one is complete. kGarbage: the stream is not ours and cannot be read any further.
  Status next(Frame& frame);

  /// What has come and was not handed out. Valid until the next room() or next().
  std::string_view unread() const noexcept { return std::string_view(buffer_).substr(begin_, end_ - begin_); }

 private:
  void forget_secret() noexcept;
  bool begins_secret() const noexcept;
  std::string buffer_;
  std::size_t begin_ = 0;   // first byte not yet handed out
  std::size_t end_ = 0;     // first byte not yet filled
  std::size_t secret_ = 0;  // bytes before begin_ that are to be overwritten
};

/// Appends a frame to `out`.
void append_frame(std::string& out, FrameType type, int rank, std::uint16_t detail, std::string_view payload);

/// Copies a fixed-width record out of a payload; false if the payload is too short.
template <class Record>
bool read_record(std::string_view& payload, Record& record) {
  if (payload.size() < sizeof(Record)) return false;
  std::memcpy(&record, payload.data(), sizeof(Record));
  payload.remove_prefix(sizeof(Record));
  return true;
}

template <class Record>
void append_record(std::string& out, const Record& record) {
  out.append(reinterpret_cast<const char*>(&record), sizeof(Record));
}

class Packer {
 public:
  void number(std::int64_t value) { append_record(bytes_, value); }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_.append(value);
  }
  template <class List>
  void texts(const List& list) {
    number(static_cast<std::int64_t>(list.size()));
    for (const auto& item : list) text(item);
  }
  const std::string& bytes() const { return bytes_; }
  /// The same without a copy; the packer is used up.
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// After any read past the end ok() is false and every value is empty.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  std::int64_t number();
  std::string text();
  template <class List>
  void texts(List& list) {
    for (std::int64_t left = number(); left > 0 && ok_; --left) list.push_back(text());
  }
  bool ok() const { return ok_; }
  /// What has been read makes no sense: ok() is false from now on.
  void refuse() { ok_ = false; }
  /// ok(), and nothing is left.
  bool whole() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tmpi::launch
