// Memory: the process as the debugger lets us read it. The first read that fails makes all later ones return zeros, so that walks end and
// are checked once, at their end. What has been read is kept until forget(): the process stands still.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "msgq/mqs.h"

namespace tmpi::msgq {

using Address = mqs_taddr_t;

class Memory {
 public:
  using Fetch = int (*)(mqs_process*, mqs_taddr_t, int, void*);
  Memory(mqs_process* process, Fetch fetch) : process_(process), fetch_(fetch) {}

  std::uint64_t word(Address address);
  std::int32_t integer(Address address);
  std::int16_t half(Address address);
  std::uint8_t byte(Address address);
  /// A std::string: where its text is, and its size. At most `most` bytes of it.
  std::string text(Address address, std::size_t most);
  /// A std::vector: begin and end.
  struct Range {
    Address begin, end;
  };
  Range range(Address address) { return {word(address), word(address + sizeof(Address))}; }
  void read(Address address, void* into, std::size_t size);

  bool ok() const noexcept { return ok_; }
  void forget() noexcept {
    pages_.clear();
    ok_ = true;
  }

 private:
  static constexpr std::size_t kPage = 4096;  // no read crosses from a page that is there to one that is not
  static constexpr std::size_t kMostPages = 8192;  // 32 MiB in the debugger
  const char* page(Address address);

  mqs_process* process_;
  Fetch fetch_;
  std::unordered_map<Address, std::vector<char>> pages_;
  bool ok_ = true;
};

}  // namespace tmpi::msgq
