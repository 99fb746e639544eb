#include "msgq/memory.hpp"

#include <algorithm>
#include <cstring>

namespace tmpi::msgq {

const char* Memory::page(Address address) {
  const auto found = pages_.find(address);
  if (found != pages_.end()) return found->second.data();
  if (pages_.size() >= kMostPages) pages_.clear();
  std::vector<char> data(kPage);
  if (fetch_(process_, address, static_cast<int>(kPage), data.data()) != mqs_ok) return nullptr;
  return pages_.emplace(address, std::move(data)).first->second.data();
}

void Memory::read(Address address, void* into, std::size_t size) {
  auto* out = static_cast<char*>(into);
  while (size > 0) {
    const Address offset = address % kPage;
    const std::size_t part = std::min(size, kPage - offset);
    const char* from = ok_ ? page(address - offset) : nullptr;
    ok_ = from != nullptr;
    if (ok_)
      std::memcpy(out, from + offset, part);
    else
      std::memset(out, 0, part);
    out += part, address += part, size -= part;
  }
}

// Ranks and debuggers run on the same kind of machine (x86-64), so that there is nothing to convert.
std::uint64_t Memory::word(Address address) {
  std::uint64_t value = 0;
  read(address, &value, sizeof value);
  return value;
}

std::int32_t Memory::integer(Address address) {
  std::int32_t value = 0;
  read(address, &value, sizeof value);
  return value;
}

std::int16_t Memory::half(Address address) {
  std::int16_t value = 0;
  read(address, &value, sizeof value);
  return value;
}

std::uint8_t Memory::byte(Address address) {
  std::uint8_t value = 0;
  read(address, &value, sizeof value);
  return value;
}

std::string Memory::text(Address address, std::size_t most) {
  std::string text(std::min<std::size_t>(word(address + sizeof(Address)), most), '\0');
  read(word(address), text.data(), text.size());
  return text;
}

}  // namespace tmpi::msgq
