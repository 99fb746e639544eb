#include "mpi/comm/context.hpp"

namespace tmpi::mpi {

namespace {

std::uint64_t mixed(std::uint64_t hash) noexcept {
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93u;
  return hash ^ hash >> 32;
}

}  // namespace

// Bit 54 is free, so that the ids that follow never run into the mark.
ContextId context_between_jobs(std::uint64_t job, int maker, std::uint64_t number) noexcept {
  const std::uint64_t hash = mixed(mixed(job) + context_id(maker, number));
  return detail::kBetweenJobs | (hash & ((detail::kBetweenJobs >> 1) - 1));
}

// FNV-1a, then mixed, since its upper bits alone are weak for short names.
ContextId named_context(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash = mixed(hash);
  return detail::kNamed | (hash & (detail::kNamed - 1));
}

}  // namespace tmpi::mpi
