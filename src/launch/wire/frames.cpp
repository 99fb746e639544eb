#include "launch/wire/frames.hpp"

#include <strings.h>

#include <algorithm>

namespace tmpi::launch {

char* FrameReader::room(std::size_t wanted) {
  forget_secret();
  if (begin_ == end_) begin_ = end_ = 0;
  const bool secret = begins_secret();
  if (buffer_.size() - end_ < wanted) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      if (secret) explicit_bzero(buffer_.data() + end_, begin_);
      begin_ = 0;
    }
    if (buffer_.size() - end_ < wanted) {
      std::string larger(std::max(buffer_.size() * 2, end_ + wanted), '\0');
      std::memcpy(larger.data(), buffer_.data(), end_);
      if (secret) explicit_bzero(buffer_.data(), end_);
      buffer_ = std::move(larger);
    }
  }
  return buffer_.data() + end_;
}

void FrameReader::forget_secret() noexcept {
  const std::size_t bytes = std::exchange(secret_, 0);
  if (bytes > 0) explicit_bzero(buffer_.data() + begin_ - bytes, bytes);
}

// Of a frame that is not there as a whole.
bool FrameReader::begins_secret() const noexcept {
  FrameHeader header{};
  if (end_ - begin_ < sizeof header) return false;
  std::memcpy(&header, buffer_.data() + begin_, sizeof header);
  return has_secret(header.type);
}

FrameReader::Status FrameReader::next(Frame& frame) {
  forget_secret();
  if (end_ - begin_ < sizeof(FrameHeader)) return Status::kIncomplete;
  std::memcpy(&frame.header, buffer_.data() + begin_, sizeof(FrameHeader));
  if (frame.header.length > kMaxPayload) return Status::kGarbage;
  if (end_ - begin_ - sizeof(FrameHeader) < frame.header.length) return Status::kIncomplete;
  frame.payload = std::string_view(buffer_.data() + begin_ + sizeof(FrameHeader), frame.header.length);
  begin_ += sizeof(FrameHeader) + frame.header.length;
  if (has_secret(frame.header.type)) secret_ = frame.header.length;
  return Status::kFrame;
}

void append_frame(std::string& out, FrameType type, int rank, std::uint16_t detail,
                  std::string_view payload) {
  append_record(out, FrameHeader{static_cast<std::uint32_t>(payload.size()), type, detail, rank});
  out.append(payload);
}

std::int64_t Unpacker::number() {
  std::int64_t value = 0;
  if (ok_) ok_ = read_record(rest_, value);
  return ok_ ? value : 0;
}

std::string Unpacker::text() {
  const std::int64_t length = number();
  if (length < 0 || static_cast<std::uint64_t>(length) > rest_.size()) ok_ = false;
  if (!ok_) return {};
  std::string value(rest_.substr(0, static_cast<std::size_t>(length)));
  rest_.remove_prefix(static_cast<std::size_t>(length));
  return value;
}

}  // namespace tmpi::launch
