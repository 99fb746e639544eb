// Making communicators, on real fibers.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "base/sanitized.hpp"
#include "mpi.h"
#include "mpi/testing/nodes.hpp"
#include "mpi/testing/ranks.hpp"

namespace tmpi::mpi {
namespace {

std::atomic<int> failures{0};

void expect(bool right, const char* what) {
  if (right) return;
  ++failures;
  MESSAGE(std::string(what));
}
#define EXPECT(condition) expect(condition, #condition)

// Likewise with ranks in several node processes.
void on_several_nodes(const std::function<void(int rank, int size)>& body) {
  for (const testing::NodesOptions& options :
       {testing::on_sim(2, 2, 1, true), testing::on_sim(2, 12, 2, false), testing::on_sim(2, 5, 1, true),
        testing::on_sim(3, 12, 1, true), testing::on_sim(4, 9, 2, false)}) {
    if (kSanitized && options.ranks != 12) continue;  // starting processes is slow there
    run_nodes(options, [&](Rank& rank) {
      body(rank.world_rank, options.ranks);
      CHECK(failures == 0);
    });
  }
}

// The body must be right for any number of ranks, workers and any policy.
void on_many(const std::function<void(int rank, int size)>& body) {
  failures = 0;
  for (const int ranks : {1, 2, 5, 12, 64}) {
    for (const int workers : {1, 2, 3}) {
      for (const char* policy : {"fifo", "lifo", "random:3"}) {
        if (!testing::worth_running(ranks, workers, policy)) continue;
        testing::run_ranks(
            ranks, workers, [&](Rank& rank) { body(rank.world_rank, ranks); }, policy);
      }
    }
  }
  on_several_nodes(body);
  CHECK(failures == 0);
}

int rank_in(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}
int compared(MPI_Comm a, MPI_Comm b) {
  int result;
  MPI_Comm_compare(a, b, &result);
  return result;
}
int sum_over(MPI_Comm comm, int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

TEST_CASE("split: colors, keys, MPI_UNDEFINED") {
  on_many([](int rank, int size) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    EXPECT(size_of(half) == (size + 1 - rank % 2) / 2);
    EXPECT(rank_in(half) == size_of(half) - 1 - rank / 2);
    int sum = 0;
    for (int i = rank % 2; i < size; i += 2) sum += i;
    EXPECT(sum_over(half, rank) == sum);
    MPI_Comm_free(&half);
    EXPECT(half == MPI_COMM_NULL);

    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &some);
    EXPECT((some == MPI_COMM_NULL) == (rank == 0));
    if (some == MPI_COMM_NULL) return;
    EXPECT(rank_in(some) == rank - 1);
    MPI_Comm_free(&some);
  });
}

TEST_CASE("dup has another context and the same group; messages do not cross") {
  on_many([](int rank, int size) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    EXPECT(compared(copy, MPI_COMM_WORLD) == MPI_CONGRUENT);
    EXPECT(compared(copy, copy) == MPI_IDENT);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int a = 1, b = 2, from_a = 0, from_b = 0;
    MPI_Request requests[2];
    MPI_Isend(&a, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&b, 1, MPI_INT, next, 0, copy, &requests[1]);
    MPI_Recv(&from_b, 1, MPI_INT, before, 0, copy, MPI_STATUS_IGNORE);
    MPI_Recv(&from_a, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(from_a == 1);
    EXPECT(from_b == 2);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_disconnect(&copy);
    EXPECT(copy == MPI_COMM_NULL);
  });
}

TEST_CASE("create: disjoint groups at once; create_group: only its members") {
  on_many([](int rank, int size) {
    MPI_Group world, mine;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> members;  // even ranks downwards, odd ranks upwards
    for (int i = 0; i < size; ++i) {
      if (i % 2 != rank % 2) continue;
      members.insert(rank % 2 == 0 ? members.begin() : members.end(), i);
    }
    MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &mine);
    MPI_Comm part, again;
    MPI_Comm_create(MPI_COMM_WORLD, mine, &part);
    EXPECT(members[static_cast<std::size_t>(rank_in(part))] == rank);
    EXPECT(sum_over(part, 1) == static_cast<int>(members.size()));
    MPI_Comm_create_group(MPI_COMM_WORLD, mine, 3, &again);
    EXPECT(compared(part, again) == MPI_CONGRUENT);
    EXPECT(sum_over(again, 1) == static_cast<int>(members.size()));
    MPI_Comm none;
    MPI_Comm_create(MPI_COMM_WORLD, rank == 0 ? mine : MPI_GROUP_EMPTY, &none);
    EXPECT(none == MPI_COMM_NULL || rank == 0);
    if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
    MPI_Comm_free(&part);
    MPI_Comm_free(&again);
    MPI_Group_free(&mine);
    MPI_Group_free(&world);
  });
}

TEST_CASE("names, groups and kinds") {
  on_many([](int rank, int) {
    char name[MPI_MAX_OBJECT_NAME];
    int length, flag = -1;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    EXPECT(std::strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    EXPECT(size_of(node) == job()->local_count());
    MPI_Comm_get_name(node, name, &length);
    EXPECT(length == 0);
    MPI_Comm_set_name(node, "node");
    MPI_Comm_get_name(node, name, &length);
    EXPECT(std::strcmp(name, "node") == 0);
    MPI_Comm_test_inter(node, &flag);
    EXPECT(flag == 0);
    MPI_Comm_free(&node);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &node);
    EXPECT(node == MPI_COMM_NULL);
    EXPECT(rank_in(MPI_COMM_SELF) == 0);
    EXPECT(sum_over(MPI_COMM_SELF, rank) == rank);
  });
}

TEST_CASE("cartesian grids and their rows and columns") {
  on_many([](int rank, int size) {
    int dims[2] = {0, 0};
    const int periods[2] = {1, 0};
    MPI_Dims_create(size, 2, dims);
    MPI_Comm grid, row, column;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    int coords[2], back, status;
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_rank(grid, coords, &back);
    EXPECT(back == rank);
    MPI_Topo_test(grid, &status);
    EXPECT(status == MPI_CART);
    const int keep_last[2] = {0, 1}, keep_first[2] = {1, 0};
    MPI_Cart_sub(grid, keep_last, &row);
    MPI_Cart_sub(grid, keep_first, &column);
    EXPECT(size_of(row) == dims[1]);
    EXPECT(rank_in(row) == coords[1]);
    EXPECT(size_of(column) == dims[0]);
    EXPECT(rank_in(column) == coords[0]);
    int ndims, column_dims[1], column_periods[1], column_coords[1];
    MPI_Cartdim_get(column, &ndims);
    EXPECT(ndims == 1);
    MPI_Cart_get(column, 1, column_dims, column_periods, column_coords);
    EXPECT(column_periods[0] == 1);
    EXPECT(sum_over(row, 1) * sum_over(column, 1) == size);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
    const int one[1] = {(size + 1) / 2};
    MPI_Cart_create(MPI_COMM_WORLD, 1, one, periods, 0, &grid);
    EXPECT((grid == MPI_COMM_NULL) == (rank >= one[0]));
    if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
  });
}

TEST_CASE("idup: any number at once, beside collectives; disconnect") {
  on_many([](int rank, int size) {
    MPI_Comm copies[6];
    MPI_Request requests[7];
    for (int i = 0; i < 6; ++i) MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]);
    int sum = 0;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[6]);
    MPI_Waitall(7, requests, MPI_STATUSES_IGNORE);
    EXPECT(sum == size * (size - 1) / 2);
    for (MPI_Comm& copy : copies) {
      EXPECT(compared(copy, MPI_COMM_WORLD) == MPI_CONGRUENT);
      EXPECT(sum_over(copy, rank) == sum);
      MPI_Comm_disconnect(&copy);
    }
  });
}

// The two halves of the ranks as sides.
MPI_Comm halves(int rank, int size) {
  const bool upper = rank >= size / 2;
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 9, &both);
  MPI_Comm_free(&half);
  return both;
}

TEST_CASE("intercommunicators: create, dup, split, merge, collectives") {
  on_many([](int rank, int size) {
    if (size < 2) return;
    const bool upper = rank >= size / 2;
    MPI_Comm both = halves(rank, size), copy, parts, one;
    int remote = 0;
    MPI_Comm_remote_size(both, &remote);
    EXPECT(remote == (upper ? size / 2 : size - size / 2));
    int sum = 0, theirs = 0;
    for (int i = 0; i < size; ++i) theirs += (i >= size / 2) != upper ? i : 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
    EXPECT(sum == theirs);
    MPI_Comm_dup(both, &copy);
    MPI_Barrier(copy);
    MPI_Comm_split(copy, rank_in(copy) % 2, 0, &parts);
    EXPECT((parts == MPI_COMM_NULL) == (size < 4 && rank_in(copy) % 2 == 1));
    if (parts != MPI_COMM_NULL) MPI_Comm_free(&parts);
    MPI_Intercomm_merge(copy, upper ? 0 : 1, &one);  // the upper half comes first
    EXPECT(rank_in(one) == (rank + size - size / 2) % size);
    EXPECT(sum_over(one, 1) == size);
    MPI_Request request;
    MPI_Comm again;
    MPI_Comm_idup(both, &again, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, again);
    EXPECT(sum == theirs);
    for (MPI_Comm* comm : {&both, &copy, &one, &again}) MPI_Comm_free(comm);
  });
}

TEST_CASE("of groups alone") {
  on_many([](int rank, int size) {
    MPI_Group world, mine, other;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> members[2];
    for (int i = 0; i < size; ++i) members[i % 2].push_back(i);
    MPI_Group_incl(world, static_cast<int>(members[rank % 2].size()), members[rank % 2].data(), &mine);
    MPI_Group_excl(world, static_cast<int>(members[rank % 2].size()), members[rank % 2].data(), &other);
    for (int round = 0; round < 3; ++round) {  // a name may be used again
      MPI_Comm part;
      MPI_Comm_create_from_group(mine, "halves", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &part);
      EXPECT(sum_over(part, 1) == static_cast<int>(members[rank % 2].size()));
      MPI_Comm_free(&part);
    }
    if (size > 1) {
      MPI_Comm both;
      MPI_Intercomm_create_from_groups(mine, 0, other, 0, "sides", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                       &both);
      EXPECT(sum_over(both, 1) == static_cast<int>(members[1 - rank % 2].size()));
      MPI_Comm_free(&both);
    }
    for (MPI_Group* group : {&world, &mine, &other}) {
      if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
    }
  });
}

TEST_CASE("many communicators at once, overlapping") {
  on_many([](int rank, int size) {
    std::vector<MPI_Comm> comms;
    for (int width = 1; width <= size; width = width * 2) {
      comms.emplace_back();
      MPI_Comm_split(MPI_COMM_WORLD, rank / width, 0, &comms.back());
    }
    for (int round = 0; round < 5; ++round) {
      for (MPI_Comm comm : comms) EXPECT(sum_over(comm, 1) == size_of(comm));
    }
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  });
}

}  // namespace
}  // namespace tmpi::mpi
