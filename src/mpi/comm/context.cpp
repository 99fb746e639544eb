#include "mpi/comm/context.hpp"

namespace tmpi::mpi {

// FNV-1a, then mixed, since its upper bits alone are weak for short names.
ContextId named_context(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93u;
  hash ^= hash >> 32;
  return detail::kNamed | (hash & (detail::kNamed - 1));
}

}  // namespace tmpi::mpi
