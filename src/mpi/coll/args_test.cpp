// Wrong arguments of collectives give the standard's error classes.
#include <cstddef>
#include <vector>

#include "mpi/coll/coll_test_support.hpp"

namespace tmpi::mpi::test {
namespace {

TEST_CASE("argument checks") {
  on_many(
      [](int rank, int size) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        int a = 1, b = 2;
        const std::vector<int> zeros(static_cast<std::size_t>(size), 0);
        std::vector<int> last_negative = zeros;
        last_negative.back() = -1;
        const int *const minus = last_negative.data(), *const zero = zeros.data();
        EXPECT(MPI_Bcast(&a, 1, MPI_INT, size, comm) == MPI_ERR_ROOT);
        EXPECT(MPI_Bcast(&a, -1, MPI_INT, 0, comm) == MPI_ERR_COUNT);
        EXPECT(MPI_Bcast(&a, 1, MPI_DATATYPE_NULL, 0, comm) == MPI_ERR_TYPE);
        EXPECT(MPI_Bcast(nullptr, 1, MPI_INT, 0, comm) == MPI_ERR_BUFFER);
        EXPECT(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm) == MPI_ERR_BUFFER);
        EXPECT(MPI_Allreduce(&a, &a, 1, MPI_INT, MPI_SUM, comm) == MPI_ERR_BUFFER);
        EXPECT(MPI_Allreduce(&a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm) == MPI_ERR_BUFFER);
        EXPECT(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm) == MPI_ERR_OP);
        EXPECT(MPI_Allreduce(&a, &b, 1, MPI_FLOAT, MPI_BAND, comm) == MPI_ERR_OP);
        EXPECT(MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, -1, comm) == MPI_ERR_ROOT);
        EXPECT(MPI_Gatherv(&a, 1, MPI_INT, &b, minus, zero, MPI_INT, rank, comm) == MPI_ERR_COUNT);
        EXPECT(MPI_Gatherv(&a, 1, MPI_INT, &b, nullptr, zero, MPI_INT, rank, comm) == MPI_ERR_ARG);
        EXPECT(MPI_Reduce_scatter(&a, &b, minus, MPI_INT, MPI_SUM, comm) == MPI_ERR_COUNT);
        EXPECT(MPI_Allgather(&a, 1, MPI_INT, &a, 1, MPI_INT, comm) == MPI_ERR_BUFFER);
        // More data than there is room for. On other nodes those see it who get what the root has sent, and
        // hand on what they had room for.
        const int two[2] = {1, 2};
        int more[2] = {0, 0};
        const int code =
            MPI_Bcast(rank == 0 ? const_cast<int*>(two) : more, rank == 0 ? 2 : 1, MPI_INT, 0, comm);
        const bool near = job()->node_of(rank) == job()->node_of(0);
        EXPECT((code == (rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE) || (!near && code == MPI_SUCCESS)));
        EXPECT((rank == 0 || (more[0] == 1 && more[1] == 0)));
        MPI_Comm_free(&comm);
      },
      {1, 2, 5});
}

}  // namespace
}  // namespace tmpi::mpi::test
