// Nonblocking and persistent collectives: random mixtures of operations, outstanding at the same time on
// several communicators, under every number of workers and every policy.
#include <array>
#include <cstring>
#include <memory>
#include <random>

#include "mpi/coll/coll_test_support.hpp"
#include "mpi/core/rank.hpp"
#include "sched/worker.hpp"

namespace tmpi::mpi::test {
namespace {

using Ints = std::vector<int>;

// One operation under way: what it reads, what it writes, what that should be in the end.
struct Pending {
  MPI_Request request = MPI_REQUEST_NULL;
  Ints input, result, right;
};

Ints sums(int size, int count, int last) {
  Ints sum(length_of(count), 0);
  for (int r = 0; r < last && r < size; ++r) {
    const Ints data = contribution(r, count);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += data[i];
  }
  return sum;
}

Ints everybody(int size, int count) {
  Ints all;
  for (int r = 0; r < size; ++r) {
    const Ints data = contribution(r, count);
    all.insert(all.end(), data.begin(), data.end());
  }
  return all;
}

// Starts operation `kind` on `comm`, in which this rank is `rank` of `size`.
void start(Pending& p, unsigned kind, int count, int root, int rank, int size, MPI_Comm comm) {
  p.input = contribution(rank, count);
  switch (kind % 6) {
    case 0:
      p.result.assign(length_of(count), -1);
      p.right = sums(size, count, size);
      MPI_Iallreduce(p.input.data(), p.result.data(), count, MPI_INT, MPI_SUM, comm, &p.request);
      break;
    case 1:
      p.right = contribution(root, count);
      p.result = rank == root ? p.right : Ints(length_of(count), -1);
      MPI_Ibcast(p.result.data(), count, MPI_INT, root, comm, &p.request);
      break;
    case 2:
      p.result.assign(length_of(count * size), -1);
      p.right = everybody(size, count);
      MPI_Iallgather(p.input.data(), count, MPI_INT, p.result.data(), count, MPI_INT, comm, &p.request);
      break;
    case 3:
      p.result.assign(length_of(count), -1);
      p.right = rank == root ? sums(size, count, size) : p.result;
      MPI_Ireduce(p.input.data(), p.result.data(), count, MPI_INT, MPI_SUM, root, comm, &p.request);
      break;
    case 4:
      p.result.assign(length_of(count), -1);
      p.right = sums(size, count, rank + 1);
      MPI_Iscan(p.input.data(), p.result.data(), count, MPI_INT, MPI_SUM, comm, &p.request);
      break;
    default:
      MPI_Ibarrier(comm, &p.request);
  }
}

void check_random(int rank, int size, unsigned seed) {
  MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
  std::mt19937 common(seed);                                       // what all ranks choose alike
  std::mt19937 own(seed * 31 + static_cast<unsigned>(rank) + 1u);  // and what each chooses for itself
  for (int round = 0; round < 4; ++round) {
    std::array<Pending, 20> pending;
    for (Pending& p : pending) {
      const unsigned kind = common(), where = common() % 3, root = common();
      const int count = std::array{0, 1, 3, 40, 2500}[common() % 5];
      int my_rank, members;
      MPI_Comm_rank(comms[where], &my_rank);
      MPI_Comm_size(comms[where], &members);
      start(p, kind, count, static_cast<int>(root % static_cast<unsigned>(members)), my_rank, members,
            comms[where]);
      if (common() % 4 == 0) MPI_Barrier(comms[where]);
      if (own() % 4 == 0) sched::yield();
    }
    // Waited for in an order of each rank's own.
    std::array<std::size_t, 20> order;
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), own);
    for (const std::size_t i : order) {
      MPI_Wait(&pending[i].request, MPI_STATUS_IGNORE);
      EXPECT(pending[i].result == pending[i].right);
    }
  }
  MPI_Comm_free(&comms[2]);
}

TEST_CASE("random mixtures of nonblocking collectives") {
  on_many(
      [](int rank, int size) {
        for (unsigned seed = 1; seed <= 3; ++seed) check_random(rank, size, seed);
      },
      {1, 2, 3, 7, 16});
}

TEST_CASE("persistent collectives run ahead of each other") {
  on_many(
      [](int rank, int size) {
        int given[2] = {}, got[2] = {};
        MPI_Request requests[2];
        MPI_Allreduce_init(&given[0], &got[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[0]);
        MPI_Bcast_init(&got[1], 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
        for (int round = 0; round < 30; ++round) {
          given[0] = rank + round;
          got[1] = rank == 0 ? round : -1;
          MPI_Start(&requests[(rank + round) % 2]);
          MPI_Start(&requests[(rank + round + 1) % 2]);
          MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
          EXPECT(got[0] == size * (size - 1) / 2 + size * round);
          EXPECT(got[1] == round);
        }
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
      },
      {1, 2, 5, 16});
}

TEST_CASE("services are as many as tracks in use, and used again") {
  testing::run_ranks(8, 1, [](Rank& rank) {
    std::array<MPI_Request, 64> requests;
    std::array<int, 64> given, sums_of;
    for (int round = 0; round < 20; ++round) {
      for (std::size_t i = 0; i < requests.size(); ++i) {
        given[i] = rank.world_rank;
        MPI_Iallreduce(&given[i], &sums_of[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
      }
      MPI_Waitall(64, requests.data(), MPI_STATUSES_IGNORE);
      if (sums_of[63] != 28) std::abort();
    }
    // 8 ranks with 4 tracks each: 4 + 8 + 16 + 32 >= 32 services.
    if (sched::this_worker()->services().made() > 60) std::abort();
    if (rank.services != 0) std::abort();
  });
}

}  // namespace
}  // namespace tmpi::mpi::test
