// Calls of every collective in many forms, for tests that compare algorithms: whatever runs them, all members
// must end up with the same.
#pragma once

#include "mpi/coll/coll_test_support.hpp"
#include "mpi/coll/table.hpp"

namespace tmpi::mpi::test {

using Ints = std::vector<int>;

// Does not commute: affine maps x -> a x + b modulo a prime, as pairs of ints.
inline void compose(void* in, void* inout, int* length, MPI_Datatype*) {
  constexpr int kPrime = 10007;
  const int* f = static_cast<const int*>(in);
  int* g = static_cast<int*>(inout);
  for (int i = 0; i < *length; ++i, f += 2, g += 2) {
    g[1] = (g[0] * f[1] + g[1]) % kPrime;
    g[0] = g[0] * f[0] % kPrime;
  }
}

// One member's results of all its calls, one after the other.
struct Trace {
  int rank, size;
  MPI_Datatype pair, gaps;
  MPI_Op op;
  Ints results;

  void add(const Ints& data) { results.insert(results.end(), data.begin(), data.end()); }
  int pick(int root) const { return root % size; }
};

// Chunks of different sizes: chunk r has (r + salt) % 4 * unit ints.
struct Ragged {
  Ints counts, displs;
  int total = 0;
  Ragged(int size, int salt, int unit) {
    for (int r = 0; r < size; ++r) {
      counts.push_back((r + salt) % 4 * unit);
      displs.push_back(total);
      total += counts.back();
    }
  }
};

inline void bcast(Trace& t, int count) {
  for (const int root : {0, 1, t.size - 1}) {
    Ints data = contribution(t.rank, 2 * count);
    MPI_Bcast(data.data(), 2 * count, MPI_INT, t.pick(root), MPI_COMM_WORLD);
    t.add(data);
    data = contribution(t.rank, 2 * count);
    MPI_Bcast(data.data(), count, t.gaps, t.pick(root), MPI_COMM_WORLD);
    t.add(data);
  }
}

inline void gather(Trace& t, int count) {
  const Ragged ragged(t.size, 1, count);
  for (const int root : {0, 2, t.size - 1}) {
    const int at = t.pick(root), mine = ragged.counts[static_cast<std::size_t>(t.rank)];
    Ints data = contribution(t.rank, count), all(length_of(2 * t.size * count), -1);
    MPI_Gather(data.data(), count, MPI_INT, all.data(), count, t.gaps, at, MPI_COMM_WORLD);
    t.add(all);
    MPI_Gather(t.rank == at ? MPI_IN_PLACE : data.data(), count, MPI_INT, all.data(), count, MPI_INT, at,
               MPI_COMM_WORLD);
    t.add(all);
    all.assign(length_of(ragged.total), -1);
    data = contribution(t.rank, mine);
    MPI_Gatherv(data.data(), mine, MPI_INT, all.data(), ragged.counts.data(), ragged.displs.data(), MPI_INT,
                at, MPI_COMM_WORLD);
    t.add(all);
  }
}

inline void scatter(Trace& t, int count) {
  const Ragged ragged(t.size, 2, count);
  for (const int root : {0, 2, t.size - 1}) {
    const int at = t.pick(root), mine = ragged.counts[static_cast<std::size_t>(t.rank)];
    const Ints all = contribution(t.rank, 2 * t.size * count + ragged.total);
    Ints data(length_of(count), -1);
    MPI_Scatter(all.data(), count, t.gaps, data.data(), count, MPI_INT, at, MPI_COMM_WORLD);
    t.add(data);
    MPI_Scatter(all.data(), count, MPI_INT, t.rank == at ? MPI_IN_PLACE : data.data(), count, MPI_INT, at,
                MPI_COMM_WORLD);
    t.add(data);
    data.assign(length_of(mine), -1);
    MPI_Scatterv(all.data(), ragged.counts.data(), ragged.displs.data(), MPI_INT, data.data(), mine, MPI_INT,
                 at, MPI_COMM_WORLD);
    t.add(data);
  }
}

inline void allgather(Trace& t, int count) {
  const Ragged ragged(t.size, 3, count);
  const int mine = ragged.counts[static_cast<std::size_t>(t.rank)];
  Ints data = contribution(t.rank, count + mine), all(length_of(2 * t.size * count), -1);
  MPI_Allgather(data.data(), count, MPI_INT, all.data(), count, t.gaps, MPI_COMM_WORLD);
  t.add(all);
  all = contribution(t.rank, 2 * t.size * count);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), count, t.gaps, MPI_COMM_WORLD);
  t.add(all);
  all.assign(length_of(ragged.total), -1);
  MPI_Allgatherv(data.data(), mine, MPI_INT, all.data(), ragged.counts.data(), ragged.displs.data(), MPI_INT,
                 MPI_COMM_WORLD);
  t.add(all);
}

inline void alltoall(Trace& t, int count) {
  // Member r sends (r + s) % 4 chunks to member s: the same in both directions.
  const Ragged ragged(t.size, t.rank, count);
  Ints data = contribution(t.rank, 2 * t.size * count + ragged.total), all(data.size(), -1);
  MPI_Alltoall(data.data(), count, t.gaps, all.data(), count, MPI_INT, MPI_COMM_WORLD);
  t.add(all);
  MPI_Alltoallv(data.data(), ragged.counts.data(), ragged.displs.data(), MPI_INT, all.data(),
                ragged.counts.data(), ragged.displs.data(), MPI_INT, MPI_COMM_WORLD);
  t.add(all);
  Ints bytes;
  for (const int displ : ragged.displs) bytes.push_back(displ * static_cast<int>(sizeof(int)));
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(t.size), MPI_INT);
  MPI_Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, data.data(), ragged.counts.data(), bytes.data(),
                types.data(), MPI_COMM_WORLD);
  t.add(data);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, t.gaps, MPI_COMM_WORLD);
  t.add(data);
}

// Calls body(type, ints per element, operator) for one that commutes and one that does not.
template <class Body>
void with_operators(const Trace& t, Body&& body) {
  body(MPI_INT, 1, MPI_SUM);
  body(t.pair, 2, t.op);
}

inline void reduce(Trace& t, int count) {
  with_operators(t, [&](MPI_Datatype type, int ints, MPI_Op op) {
    const Ints data = contribution(t.rank, count * ints);
    for (const int root : {0, 3, t.size - 1}) {
      Ints result(data.size(), -1);
      const bool here = t.rank == t.pick(root);
      MPI_Reduce(data.data(), result.data(), count, type, op, t.pick(root), MPI_COMM_WORLD);
      if (here) t.add(result);
      result = data;
      MPI_Reduce(here ? MPI_IN_PLACE : data.data(), result.data(), count, type, op, t.pick(root),
                 MPI_COMM_WORLD);
      if (here) t.add(result);
    }
  });
}

inline void all_members(Trace& t, int count,
                        int (*call)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm)) {
  with_operators(t, [&](MPI_Datatype type, int ints, MPI_Op op) {
    const Ints data = contribution(t.rank, count * ints);
    Ints result(data.size(), -1);
    call(data.data(), result.data(), count, type, op, MPI_COMM_WORLD);
    t.add(result);
    result = data;
    call(MPI_IN_PLACE, result.data(), count, type, op, MPI_COMM_WORLD);
    t.add(result);
  });
}

inline void reduce_scatter(Trace& t, int count) {
  with_operators(t, [&](MPI_Datatype type, int ints, MPI_Op op) {
    const Ragged ragged(t.size, 1, count);
    const auto mine = length_of(ragged.counts[static_cast<std::size_t>(t.rank)] * ints);
    Ints data = contribution(t.rank, ragged.total * ints), result(mine, -1);
    MPI_Reduce_scatter(data.data(), result.data(), ragged.counts.data(), type, op, MPI_COMM_WORLD);
    t.add(result);
    MPI_Reduce_scatter(MPI_IN_PLACE, data.data(), ragged.counts.data(), type, op, MPI_COMM_WORLD);
    t.add(Ints(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(mine)));
    data = contribution(t.rank, t.size * count * ints);
    result.assign(length_of(count * ints), -1);
    MPI_Reduce_scatter_block(data.data(), result.data(), count, type, op, MPI_COMM_WORLD);
    t.add(result);
  });
}

inline void operate(Trace& t, Collective collective, int count) {
  switch (collective) {
    case Collective::kBarrier:
      MPI_Barrier(MPI_COMM_WORLD);
      return;
    case Collective::kBcast:
      return bcast(t, count);
    case Collective::kGather:
      return gather(t, count);
    case Collective::kScatter:
      return scatter(t, count);
    case Collective::kAllgather:
      return allgather(t, count);
    case Collective::kAlltoall:
      return alltoall(t, count);
    case Collective::kReduce:
      return reduce(t, count);
    case Collective::kAllreduce:
      return all_members(t, count, MPI_Allreduce);
    case Collective::kReduceScatter:
      return reduce_scatter(t, count);
    case Collective::kScan:
      return all_members(t, count, MPI_Scan);
    case Collective::kExscan:
      return all_members(t, count, MPI_Exscan);
    case Collective::kNeighborAllgather:
    case Collective::kNeighborAlltoall:
      return;  // tests/mpi/neighbor_data.c
  }
}

/// Everything that the calling rank ends up with.
inline Ints results_of(Collective collective, int rank, int size) {
  Trace t{.rank = rank, .size = size, .pair = {}, .gaps = {}, .op = {}, .results = {}};
  MPI_Type_contiguous(2, MPI_INT, &t.pair);
  MPI_Type_commit(&t.pair);
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &t.gaps);
  MPI_Type_commit(&t.gaps);
  MPI_Op_create(compose, 0, &t.op);
  for (const int count : {0, 1, 3, 700}) operate(t, collective, count);
  MPI_Op_free(&t.op);
  MPI_Type_free(&t.gaps);
  MPI_Type_free(&t.pair);
  return std::move(t.results);
}

/// What all members end up with in one process.
inline std::vector<Ints> outcome(Collective collective, int ranks, int workers) {
  std::vector<Ints> results(static_cast<std::size_t>(ranks));
  testing::run_ranks(
      ranks, workers,
      [&](Rank& rank) {
        results[static_cast<std::size_t>(rank.world_rank)] = results_of(collective, rank.world_rank, ranks);
      },
      "random:5");
  return results;
}

}  // namespace tmpi::mpi::test
