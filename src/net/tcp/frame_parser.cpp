#include "net/tcp/frame_parser.hpp"

#include <algorithm>
#include <cstring>

namespace tmpi::net::tcp {

void FrameParser::took_direct(std::size_t bytes) noexcept {
  landing_.buffer = static_cast<std::byte*>(landing_.buffer) + bytes;
  direct_ -= bytes;
  end_if_complete();
}

bool FrameParser::take(std::span<const std::byte> bytes) noexcept {
  bool fine = true;
  while (!bytes.empty() && fine) {
    const std::size_t taken = in_message_ ? take_payload(bytes) : take_header(bytes, fine);
    bytes = bytes.subspan(taken);
  }
  return fine;
}

std::size_t FrameParser::take_payload(std::span<const std::byte> bytes) noexcept {
  const std::size_t landed = std::min(bytes.size(), direct_);
  if (landed > 0) std::memcpy(landing_.buffer, bytes.data(), landed);
  landing_.buffer = static_cast<std::byte*>(landing_.buffer) + landed;
  direct_ -= landed;
  const auto dropped = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size() - landed, drop_));
  drop_ -= dropped;
  end_if_complete();
  return landed + dropped;
}

// Takes a frame's header and the message's, in one piece where they lie in `bytes` in one piece.
std::size_t FrameParser::take_header(std::span<const std::byte> bytes, bool& fine) noexcept {
  std::size_t taken = 0;
  FrameHeader frame;
  // Grows what has been kept to `size` bytes; false if `bytes` do not suffice.
  const auto keep = [&](std::size_t size) {
    const std::size_t piece = std::min(size - kept_, bytes.size() - taken);
    std::memcpy(keep_.data() + kept_, bytes.data() + taken, piece);
    kept_ += piece;
    taken += piece;
    return kept_ == size;
  };
  if (kept_ == 0 && bytes.size() >= sizeof frame) {
    std::memcpy(&frame, bytes.data(), sizeof frame);
    if (!(fine = understand(frame))) return 0;
    const std::size_t whole = sizeof frame + frame.header;
    if (bytes.size() >= whole) {
      begin(frame, bytes.subspan(sizeof frame, frame.header));
      return whole;
    }
  }
  if (kept_ < sizeof frame && !keep(sizeof frame)) return taken;
  std::memcpy(&frame, keep_.data(), sizeof frame);
  if (!(fine = understand(frame))) return taken;
  if (!keep(sizeof frame + frame.header)) return taken;
  kept_ = 0;
  begin(frame, std::span(keep_).subspan(sizeof frame, frame.header));
  return taken;
}

bool FrameParser::understand(const FrameHeader& frame) noexcept {
  if (goodbye_ || frame.reserved != 0) return false;
  if (frame.kind == FrameKind::kGoodbye) return frame.id == 0 && frame.header == 0 && frame.payload == 0;
  return frame.kind == FrameKind::kMessage && frame.header <= kMostHeader && frame.payload <= kMostPayload;
}

void FrameParser::begin(const FrameHeader& frame, std::span<const std::byte> header) noexcept {
  if (frame.kind == FrameKind::kGoodbye) {
    goodbye_ = true;
    return;
  }
  in_message_ = true;
  ++counts_.messages;
  counts_.bytes += frame.header + frame.payload;
  landing_ = sink_->arriving(peer_, frame.id, header, frame.payload);
  direct_ = static_cast<std::size_t>(std::min<std::uint64_t>(frame.payload, landing_.capacity));
  drop_ = frame.payload - direct_;
  end_if_complete();
}

void FrameParser::end_if_complete() noexcept {
  if (!in_message_ || direct_ != 0 || drop_ != 0) return;
  in_message_ = false;
  sink_->landed(peer_, landing_.token);
}

}  // namespace tmpi::net::tcp
