// Nonblocking and persistent collectives: random mixtures of operations, outstanding at the same time on
// several communicators, under every number of workers and every policy.
#include <array>
#include <cstring>
#include <memory>
#include <random>

#include "mpi/coll/coll_test_support.hpp"
#include "mpi/rank/rank.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::mpi::test {
namespace {

using Ints = std::vector<int>;

// One operation under way: what it reads, what it writes, what that should be in the end.
struct Pending {
  MPI_Request request = MPI_REQUEST_NULL;
  Ints input, result, right;
  Ints counts, displs;  // of the v-variants
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

// What rank `from` sends to rank `to`.
Ints message(int from, int to, int count) {
  return contribution(from * 131 + to, count);
}

// Chunks of counts(r) ints, one behind the other; `data(r)` is what chunk r holds, in `whole`.
template <class Count, class Data>
void lay_out(Pending& p, Ints& whole, int size, Count&& count, Data&& data) {
  p.counts.clear(), p.displs.clear(), whole.clear();
  for (int r = 0; r < size; ++r) {
    p.counts.push_back(count(r));
    p.displs.push_back(static_cast<int>(whole.size()));
    const Ints chunk = data(r, count(r));
    whole.insert(whole.end(), chunk.begin(), chunk.end());
  }
}

// The exchanges and the operations of each member's own chunk.
void start_exchange(Pending& p, unsigned kind, int count, int root, int rank, int size, MPI_Comm comm) {
  const auto alike = [&](int) { return count; };
  const auto differing = [&](int r) { return (rank + r) % 3 * count; };
  const auto sent = [&](int r, int n) { return message(rank, r, n); };
  const auto received = [&](int r, int n) { return message(r, rank, n); };
  switch (kind % 7) {
    case 0:
      lay_out(p, p.input, size, alike, sent);
      lay_out(p, p.right, size, alike, received);
      p.result.assign(p.right.size(), -1);
      MPI_Ialltoall(p.input.data(), count, MPI_INT, p.result.data(), count, MPI_INT, comm, &p.request);
      break;
    case 1:
      lay_out(p, p.input, size, differing, sent);
      lay_out(p, p.right, size, differing, received);
      p.result.assign(p.right.size(), -1);
      MPI_Ialltoallv(p.input.data(), p.counts.data(), p.displs.data(), MPI_INT, p.result.data(),
                     p.counts.data(), p.displs.data(), MPI_INT, comm, &p.request);
      break;
    case 2: {
      const auto own = [&](int r) { return r % 3 * count; };
      lay_out(p, p.right, size, own, [](int r, int n) { return contribution(r, n); });
      p.input = contribution(rank, own(rank));
      p.result.assign(p.right.size(), -1);
      MPI_Iallgatherv(p.input.data(), own(rank), MPI_INT, p.result.data(), p.counts.data(), p.displs.data(),
                      MPI_INT, comm, &p.request);
      break;
    }
    case 3: {
      p.input = contribution(rank, size * count);
      const Ints sum = sums(size, size * count, size);
      p.right.assign(sum.begin() + rank * count, sum.begin() + (rank + 1) * count);
      p.result.assign(length_of(count), -1);
      MPI_Ireduce_scatter_block(p.input.data(), p.result.data(), count, MPI_INT, MPI_SUM, comm, &p.request);
      break;
    }
    case 4: {
      int total = 0, before = 0;
      for (int r = 0; r < size; ++r) {
        p.counts.push_back(r % 3 * count);
        if (r < rank) before += p.counts.back();
        total += p.counts.back();
      }
      p.input = contribution(rank, total);
      const Ints sum = sums(size, total, size);
      p.right.assign(sum.begin() + before, sum.begin() + before + rank % 3 * count);
      p.result.assign(p.right.size(), -1);
      MPI_Ireduce_scatter(p.input.data(), p.result.data(), p.counts.data(), MPI_INT, MPI_SUM, comm,
                          &p.request);
      break;
    }
    case 5:
      p.input = contribution(rank, count);
      p.result.assign(length_of(count * size), -1);
      p.right = rank == root ? everybody(size, count) : p.result;
      MPI_Igather(p.input.data(), count, MPI_INT, p.result.data(), count, MPI_INT, root, comm, &p.request);
      break;
    default:
      p.input = rank == root ? everybody(size, count) : Ints();
      p.result.assign(length_of(count), -1);
      p.right = contribution(rank, count);
      MPI_Iscatter(p.input.data(), count, MPI_INT, p.result.data(), count, MPI_INT, root, comm, &p.request);
  }
}

// Starts operation `kind` on `comm`, in which this rank is `rank` of `size`.
void start(Pending& p, unsigned kind, int count, int root, int rank, int size, MPI_Comm comm) {
  if (kind % 2 != 0) return start_exchange(p, kind / 2, count, root, rank, size, comm);
  p.input = contribution(rank, count);
  switch (kind / 2 % 7) {
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
    case 5:
      p.result.assign(length_of(count), -1);
      p.right = rank > 0 ? sums(size, count, rank) : p.result;
      MPI_Iexscan(p.input.data(), p.result.data(), count, MPI_INT, MPI_SUM, comm, &p.request);
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
        for (unsigned seed = 1; seed <= (kSanitized ? 1 : 3); ++seed) check_random(rank, size, seed);
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

// Each of them small, nobody has to wait for another worker group.
void each_kind_once(int rank, int size) {
  for (unsigned kind = 0; kind < 14; ++kind) {
    if (kind == 2 || kind == 6 || kind == 11 || kind == 13) continue;  // with a root: next test
    Pending p;
    start(p, kind, 1, 0, rank, size, MPI_COMM_WORLD);
    MPI_Wait(&p.request, MPI_STATUS_IGNORE);
    EXPECT(p.result == p.right);
  }
}

TEST_CASE("where all members share a worker, shared-memory barriers need no helper fibers") {
  failures = 0;
  for (const int size : {1, 2, 8, 40}) {
    testing::run_ranks(size, 1, [&](Rank& rank) {
      each_kind_once(rank.world_rank, size);
      if (sched::this_worker()->helpers().made() != 0) std::abort();
    });
  }
  CHECK(failures == 0);
}

TEST_CASE("members come before their root, many times") {
  const auto body = [](int rank, int size) {
    for (int i = 0; i < 24; ++i) {
      for (const unsigned kind : {2U, 6U, 11U, 13U}) {
        Pending p;
        if (rank == i % size) sched::yield();
        start(p, kind, i % 4 == 3 ? 3000 : 1, i % size, rank, size, MPI_COMM_WORLD);
        if (i % 3 == 0) sched::yield();
        MPI_Wait(&p.request, MPI_STATUS_IGNORE);
        EXPECT(p.result == p.right);
      }
    }
  };
  on_many(body, {2, 3, 7, 16});
}

// Everybody sends two elements where one is expected.
void cut_off(int rank, int size) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const Ints sent(length_of(2 * size), rank);
  const Ints ones(length_of(size), 1);
  Ints displs, got(length_of(size), -1);
  for (int r = 0; r < size; ++r) displs.push_back(r);
  const auto is_cut_off = [](int error, MPI_Request& request) {
    if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(error, &error_class);
    return error_class == MPI_ERR_TRUNCATE;
  };
  for (int i = 0; i < 3; ++i) {
    MPI_Request r = MPI_REQUEST_NULL;
    EXPECT(is_cut_off(
        MPI_Iallgatherv(sent.data(), 2, MPI_INT, got.data(), ones.data(), displs.data(), MPI_INT, comm, &r),
        r));
    EXPECT(got[length_of(size - 1)] == size - 1);
    EXPECT(is_cut_off(MPI_Ialltoall(sent.data(), 2, MPI_INT, got.data(), 1, MPI_INT, comm, &r), r));
    EXPECT(is_cut_off(
        MPI_Allgatherv(sent.data(), 2, MPI_INT, got.data(), ones.data(), displs.data(), MPI_INT, comm), r));
    EXPECT(is_cut_off(MPI_Alltoall(sent.data(), 2, MPI_INT, got.data(), 1, MPI_INT, comm), r));
    Ints data = sent;
    const bool root = rank == i % size;
    EXPECT(is_cut_off(MPI_Ibcast(data.data(), root ? 2 : 1, MPI_INT, i % size, comm, &r), r) ==
           (!root && size > 1));
  }
  MPI_Comm_free(&comm);
}

TEST_CASE("what is too long is cut off and reported at the wait") {
  on_one_node(cut_off, {1, 2, 7, 16});
}

TEST_CASE("helper fibers are as many as shadows in use, and used again") {
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
    // 8 ranks with 4 shadows each: 4 + 8 + 16 + 32 >= 32 helper fibers.
    if (sched::this_worker()->helpers().made() > 60) std::abort();
    if (rank.busy_shadows != 0) std::abort();
  });
}

}  // namespace
}  // namespace tmpi::mpi::test
