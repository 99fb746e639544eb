// The two sides of a collective CheckedCall: what the member sends to itself is what it expects of itself, and
// what it sends from is not what it receives into. MPI report, 6.2.2 and the functions of chapter 6.
#include <algorithm>
#include <vector>

#include "check/checked_call.hpp"
#include "check/misuse.hpp"
#include "mpi/comm/topology.hpp"

namespace tmpi::check {
namespace {

using mpi::Chunk;
using mpi::Side;

bool usable(MPI_Datatype handle) {
  const mpi::Datatype* type = mpi::datatype_from(handle);
  return type != nullptr && type->committed();
}

mpi::Numbers numbers(const void* array, bool large) {
  if (large) return {static_cast<const MPI_Count*>(array)};
  return {static_cast<const int*>(array)};
}

// Chunks that a side has of its own; the library refuses what is not usable.
bool usable(const Side& side, int chunks) {
  if (!side.counts) return side.count >= 0 && side.type != nullptr && side.type->committed();
  for (int i = 0; i < chunks; ++i) {
    if (side.counts[i] < 0 || (side.types != nullptr && !usable(side.types[i]))) return false;
  }
  return side.types != nullptr || (side.type != nullptr && side.type->committed());
}

// How many chunks each side has; those of a regular one are one run of elements.
struct Spread {
  int send;
  int receive;
};

Spread spread(Pattern pattern, int members) {
  switch (pattern) {
    case Pattern::kGather:
    case Pattern::kAllgather:
      return {1, members};
    case Pattern::kScatter:
    case Pattern::kReduceScatter:
      return {members, 1};
    case Pattern::kAlltoall:
      return {members, members};
    default:
      return {1, 1};
  }
}

// The runs of elements that a side is.
std::vector<Access> accesses(const Side& side, int chunks, bool writes) {
  std::vector<Access> found;
  const auto add = [&](const Chunk& chunk) {
    if (auto access = make_access(chunk.data, chunk.count, mpi::handle_of(*chunk.type), writes))
      found.push_back(*std::move(access));
  };
  if (!side.counts) {
    add({side.data, side.count * chunks, side.type});
  } else {
    for (int i = 0; i < chunks; ++i) add(side.chunk(i));
  }
  return found;
}

// From the first to the last byte.
struct Extent {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
};

Extent extent(const std::vector<Access>& accesses) {
  Extent whole;
  for (const Access& access : accesses) {
    whole.begin = std::min(whole.begin, access.begin);
    whole.end = std::max(whole.end, access.end);
  }
  return whole;
}

}  // namespace

/// False if there are no two sides here: MPI_IN_PLACE, not at the root, or nothing that the library will take.
bool CheckedCall::sides(const mpi::Comm& members, Chunks chunks, Side& send, Side& receive) const {
  const Places& at = function_.at;
  const Pattern pattern = function_.pattern;
  const bool rooted =
      pattern == Pattern::kGather || pattern == Pattern::kScatter || pattern == Pattern::kReduce;
  if (rooted && number(at.root) != members.rank) return false;
  const auto type_at = [&](int argument) {
    return argument < 0 ? nullptr : mpi::datatype_from(pointer<MPI_Datatype>(argument));
  };
  send.data = pointer<void*>(at.buffer);
  receive.data = pointer<void*>(at.receive_buffer);
  if (send.data == MPI_IN_PLACE || receive.data == MPI_IN_PLACE) return false;
  send.type = receive.type = type_at(at.type);
  if (at.receive_type >= 0) receive.type = type_at(at.receive_type);
  const auto fill = [&](Side& side, int count, int counts, int displs, int types) {
    if (counts < 0) {
      side.count = count < 0 ? -1 : number(count);
      return true;
    }
    if (word(counts) == 0 || (displs >= 0 && word(displs) == 0)) return false;
    side.counts = numbers(pointer<const void*>(counts), function_.large);
    if (displs >= 0) side.displs = numbers(pointer<const void*>(displs), function_.large);
    if (types >= 0) side.types = pointer<const MPI_Datatype*>(types);
    return types < 0 || side.types != nullptr;
  };
  if (pattern == Pattern::kReduceScatter) {
    // The sending side is as long as all chunks, which are counted on the receiving side.
    const MPI_Count all = at.receive_counts >= 0 ? sum_of_counts(members.size) : number(at.receive_count);
    if (all < 0) return false;
    send.count = at.receive_counts >= 0 ? all : all * members.size;
    receive.count = at.receive_counts >= 0
                        ? numbers(pointer<const void*>(at.receive_counts), function_.large)[members.rank]
                        : all;
    return usable(send, 1) && usable(receive, 1);
  }
  const int receive_count = at.receive_type >= 0 ? at.receive_count : at.count;
  return fill(send, at.count, at.counts, at.displs, at.types) &&
         fill(receive, receive_count, at.receive_counts, at.receive_displs, at.receive_types) &&
         usable(send, chunks.sent) && usable(receive, chunks.received);
}

void CheckedCall::check_sides() {
  const mpi::Comm* members = comm_of(*record_->rank, comm());
  if (members == nullptr || members->inter()) return;
  if (function_.pattern >= Pattern::kNeighborAllgather) return check_neighbours(*members);
  const Spread chunks = spread(function_.pattern, members->size);
  Side send, receive;
  if (!sides(*members, {chunks.send, chunks.receive}, send, receive)) return;
  check_own_chunk(*members, send, receive);
  check_aliased(*members, send, receive);
}

void CheckedCall::check_own_chunk(const mpi::Comm& members, const Side& send, const Side& receive) const {
  const Pattern pattern = function_.pattern;
  if (pattern < Pattern::kGather || pattern > Pattern::kAlltoall) return;
  const auto own = [&](const Side& side) { return side.counts ? side.chunk(members.rank) : side.whole(); };
  const Chunk sent = own(send), expected = own(receive);
  const auto known = [](const Chunk& chunk) { return chunk.type->predefined() ? chunk.type : nullptr; };
  if (sent.bytes() == expected.bytes() && (sent.bytes() == 0 || same_type(known(sent), known(expected))))
    return;
  report_own_chunk(*record_, place(), {sent.bytes(), sent.type}, {expected.bytes(), expected.type});
}

/// As check_aliased, for the chunks of neighbours that are there.
void CheckedCall::check_neighbours(const mpi::Comm& members) const {
  const mpi::Neighbours* around = nullptr;
  if (mpi::neighbours(members, around)) return;  // the library refuses the call
  mpi::Neighbours those = *around;
  const bool one = function_.pattern == Pattern::kNeighborAllgather;
  if (one) those.destinations.resize(std::min<std::size_t>(those.destinations.size(), 1));
  Side send, receive;
  const Chunks chunks{static_cast<int>(those.destinations.size()), static_cast<int>(those.sources.size())};
  if (!sides(members, chunks, send, receive)) return;
  const auto touched = [](const Side& side, const std::vector<int>& ranks, bool all, bool writes) {
    std::vector<Access> found;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (!all && ranks[i] == MPI_PROC_NULL) continue;
      const Chunk chunk = side.chunk(static_cast<int>(i));
      if (auto access = make_access(chunk.data, chunk.count, mpi::handle_of(*chunk.type), writes))
        found.push_back(*std::move(access));
    }
    return found;
  };
  const std::vector<Access> read = touched(send, those.destinations, one, false);
  for (const Access& received : touched(receive, those.sources, false, true)) {
    for (const Access& sent : read) {
      if (overlap(sent, received)) report_aliased(*record_, place(), sent, received);
    }
  }
}

void CheckedCall::check_aliased(const mpi::Comm& members, const Side& send, const Side& receive) const {
  const Pattern pattern = function_.pattern;
  // The library refuses one buffer for both in a reduction by itself.
  if (pattern >= Pattern::kReduce && send.data == receive.data) return;
  const Spread chunks = spread(pattern, members.size);
  const bool sends_all = pattern == Pattern::kReduceScatter;
  const std::vector<Access> read = accesses(send, sends_all ? 1 : chunks.send, false);
  const std::vector<Access> written = accesses(receive, chunks.receive, true);
  const Extent from = extent(read), to = extent(written);
  if (from.end <= to.begin || to.end <= from.begin) return;
  for (const Access& sent : read) {
    for (const Access& received : written) {
      if (overlap(sent, received)) report_aliased(*record_, place(), sent, received);
    }
  }
}

}  // namespace tmpi::check
