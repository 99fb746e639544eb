// FrameParser takes the byte stream of one peer apart and calls the sink. No socket in here: the caller
// reads, large payloads straight to where they belong (direct()), everything else into any buffer (take()).
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>

#include "net/tcp/wire.hpp"
#include "net/transport.hpp"

namespace tmpi::net::tcp {

class FrameParser {
 public:
  FrameParser(int peer, Sink& sink) noexcept : peer_(peer), sink_(&sink) {}

  /// Where the next bytes of the stream may be written without a detour; empty unless the rest of a payload
  /// is expected there. Then say took_direct().
  iovec direct() const noexcept { return {landing_.buffer, direct_}; }
  void took_direct(std::size_t bytes) noexcept;

  /// The next bytes of the stream, all of them. False: this is not the protocol; nothing more may be taken.
  bool take(std::span<const std::byte> bytes) noexcept;

  /// The peer has ended its stream properly.
  bool said_goodbye() const noexcept { return goodbye_; }

  struct Counts {
    std::uint64_t messages = 0, bytes = 0;
  };
  const Counts& counts() const noexcept { return counts_; }

 private:
  std::size_t take_header(std::span<const std::byte> bytes, bool& fine) noexcept;
  std::size_t take_payload(std::span<const std::byte> bytes) noexcept;
  bool understand(const FrameHeader& frame) noexcept;
  void begin(const FrameHeader& frame, std::span<const std::byte> header) noexcept;
  void end_if_complete() noexcept;

  int peer_;
  Sink* sink_;
  bool in_message_ = false;  // between arriving() and landed()
  bool goodbye_ = false;
  Landing landing_;         // buffer moves on as bytes come
  std::size_t direct_ = 0;  // bytes still to be written to landing_.buffer
  std::uint64_t drop_ = 0;  // bytes of payload behind them, for which there is no room
  // What has come of a header that is not complete.
  std::size_t kept_ = 0;
  std::array<std::byte, sizeof(FrameHeader) + kMostHeader> keep_;
  Counts counts_;
};

}  // namespace tmpi::net::tcp
