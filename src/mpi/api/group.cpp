// Groups. MPI report, 7.3.
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

// Runs body(group) for the group behind a handle.
template <class Body>
int on_group(const char* name, MPI_Group handle, Body&& body) {
  return on_rank(name, [&](Rank& rank) -> Err {
    const GroupPtr* group;
    TMPI_TRY(group_from(handle, group));
    return body(*group, rank);
  });
}

template <class Operation>
int combine(const char* name, MPI_Group group1, MPI_Group group2, MPI_Group* newgroup,
            Operation&& operation) {
  return on_group(name, group1, [&](const GroupPtr& a, Rank&) -> Err {
    const GroupPtr* b;
    TMPI_TRY(group_from(group2, b));
    TMPI_TRY(check_pointer(newgroup, "newgroup"));
    const void* session = session_of(group1);
    *newgroup = make_handle(operation(a, *b), session != nullptr ? session : session_of(group2));
    return kOk;
  });
}

template <class Operation>
int choose(const char* name, MPI_Group handle, int n, const int ranks[], MPI_Group* newgroup,
           Operation&& operation) {
  return on_group(name, handle, [&](const GroupPtr& group, Rank&) -> Err {
    TMPI_TRY(check_pointer(newgroup, "newgroup"));
    TMPI_TRY(check_ranks(*group, n, ranks));
    *newgroup = make_handle(operation(group, n, ranks), session_of(handle));
    return kOk;
  });
}

template <class Operation>
int choose_ranges(const char* name, MPI_Group handle, int n, int ranges[][3], MPI_Group* newgroup,
                  Operation&& operation) {
  return on_group(name, handle, [&](const GroupPtr& group, Rank&) -> Err {
    TMPI_TRY(check_pointer(newgroup, "newgroup"));
    std::vector<int> ranks;
    TMPI_TRY(expand_ranges(*group, n, ranges, ranks));
    *newgroup =
        make_handle(operation(group, static_cast<int>(ranks.size()), ranks.data()), session_of(handle));
    return kOk;
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Group_size(MPI_Group group, int* size) {
  return on_group("MPI_Group_size", group, [&](const GroupPtr& g, Rank&) -> Err {
    TMPI_TRY(check_pointer(size, "size"));
    *size = g->size();
    return kOk;
  });
}
TMPI_PROFILED(MPI_Group_size);

int PMPI_Group_rank(MPI_Group group, int* rank) {
  return on_group("MPI_Group_rank", group, [&](const GroupPtr& g, Rank& me) -> Err {
    TMPI_TRY(check_pointer(rank, "rank"));
    *rank = g->rank_of(me.world_rank);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Group_rank);

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  return on_group("MPI_Group_translate_ranks", group1, [&](const GroupPtr& from, Rank&) -> Err {
    const GroupPtr* to;
    TMPI_TRY(group_from(group2, to));
    if (n < 0) return fail(MPI_ERR_ARG, "n is {}: it must not be negative", n);
    if (n > 0) TMPI_TRY(check_pointer(ranks1, "ranks1"));
    if (n > 0) TMPI_TRY(check_pointer(ranks2, "ranks2"));
    for (int i = 0; i < n; ++i) {
      const int rank = ranks1[i];
      if (rank != MPI_PROC_NULL && (rank < 0 || rank >= from->size()))
        return fail(MPI_ERR_RANK, "ranks1[{}] is {}, but group1 has ranks 0 to {}", i, rank,
                    from->size() - 1);
      ranks2[i] = rank == MPI_PROC_NULL ? MPI_PROC_NULL : (*to)->rank_of(from->world_rank(rank));
    }
    return kOk;
  });
}
TMPI_PROFILED(MPI_Group_translate_ranks);

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  return on_group("MPI_Group_compare", group1, [&](const GroupPtr& a, Rank&) -> Err {
    const GroupPtr* b;
    TMPI_TRY(group_from(group2, b));
    TMPI_TRY(check_pointer(result, "result"));
    *result = compare(*a, **b);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Group_compare);

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return combine("MPI_Group_union", group1, group2, newgroup, unite);
}
TMPI_PROFILED(MPI_Group_union);

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return combine("MPI_Group_intersection", group1, group2, newgroup, intersect);
}
TMPI_PROFILED(MPI_Group_intersection);

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return combine("MPI_Group_difference", group1, group2, newgroup, subtract);
}
TMPI_PROFILED(MPI_Group_difference);

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return choose("MPI_Group_incl", group, n, ranks, newgroup, include);
}
TMPI_PROFILED(MPI_Group_incl);

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return choose("MPI_Group_excl", group, n, ranks, newgroup, exclude);
}
TMPI_PROFILED(MPI_Group_excl);

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  return choose_ranges("MPI_Group_range_incl", group, n, ranges, newgroup, include);
}
TMPI_PROFILED(MPI_Group_range_incl);

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  return choose_ranges("MPI_Group_range_excl", group, n, ranges, newgroup, exclude);
}
TMPI_PROFILED(MPI_Group_range_excl);

int PMPI_Group_free(MPI_Group* group) {
  return on_rank("MPI_Group_free", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(group, "group"));
    return free_handle(*group);
  });
}
TMPI_PROFILED(MPI_Group_free);
