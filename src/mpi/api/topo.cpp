// Cartesian topologies. MPI report, 8.5.
#include <algorithm>

#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/topo/cart.hpp"

namespace tmpi::mpi {
namespace {

// Runs body(comm, grid) for a communicator with a cartesian topology.
template <class Body>
int on_grid(const char* name, MPI_Comm handle, Body&& body) {
  return on_comm(name, handle, [&](Comm& comm) -> Err {
    const Grid* grid = grid_of(comm);
    if (grid == nullptr)
      return fail(MPI_ERR_TOPOLOGY,
                  "the communicator has no cartesian topology: it was not made by MPI_Cart_create");
    return body(comm, *grid);
  });
}

Err check_room(const char* argument, int given, int needed) {
  if (given < needed)
    return fail(MPI_ERR_ARG, "{} is {}, but the grid has {} dimensions", argument, given, needed);
  return kOk;
}

// A grid that fits into the communicator.
Err check_grid(const Comm& comm, int ndims, const int dims[], const int periods[]) {
  if (comm.inter()) return fail(MPI_ERR_COMM, "an intercommunicator cannot get a topology");
  if (ndims < 0) return fail(MPI_ERR_DIMS, "ndims is {}: it must not be negative", ndims);
  if (ndims > 0) TMPI_TRY(check_pointer(dims, "dims"));
  if (ndims > 0) TMPI_TRY(check_pointer(periods, "periods"));
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] <= 0) return fail(MPI_ERR_DIMS, "dims[{}] is {}: it must be positive", d, dims[d]);
  }
  const int size = grid_size(ndims, dims);
  if (size == 0 || size > comm.size)
    return fail(MPI_ERR_DIMS, "the grid has more ranks than the communicator, which has {}", comm.size);
  return kOk;
}

// Coordinates that lie in the grid, those of closed dimensions brought into range.
Err wrap_coords(const Grid& grid, const int coords[], std::vector<int>& wrapped) {
  wrapped.assign(coords, coords + grid.ndims());
  for (std::size_t d = 0; d < wrapped.size(); ++d) {
    const int size = grid.dims[d];
    if (grid.periods[d]) {
      wrapped[d] = (wrapped[d] % size + size) % size;
    } else if (wrapped[d] < 0 || wrapped[d] >= size) {
      return fail(MPI_ERR_ARG,
                  "coords[{}] is {}, but the dimension is not periodic and has coordinates 0 to {}", d,
                  wrapped[d], size - 1);
    }
  }
  return kOk;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int,
                     MPI_Comm* comm_cart) {
  return on_collective("MPI_Cart_create", comm_old, [&](Comm& parent) -> Err {
    TMPI_TRY(check_pointer(comm_cart, "comm_cart"));
    *comm_cart = MPI_COMM_NULL;  // also what a program sees that goes on after an error
    TMPI_TRY(check_grid(parent, ndims, dims, periods));
    Grid grid;
    for (int d = 0; d < ndims; ++d) {
      grid.dims.push_back(dims[d]);
      grid.periods.push_back(periods[d] != 0);
    }
    Comm* created = nullptr;
    TMPI_TRY(create_cart(parent, std::move(grid), created));
    *comm_cart = created == nullptr ? MPI_COMM_NULL : created->handle;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Cart_create);

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return on_grid("MPI_Cart_sub", comm, [&](Comm& parent, const Grid& grid) -> Err {
    if (grid.ndims() > 0) TMPI_TRY(check_pointer(remain_dims, "remain_dims"));
    TMPI_TRY(check_pointer(newcomm, "newcomm"));
    Comm* created = nullptr;
    TMPI_TRY(create_sub_cart(parent, grid, remain_dims, created));
    *newcomm = created->handle;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Cart_sub);

int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
  return on_rank("MPI_Dims_create", [&](Rank&) -> Err {
    if (nnodes <= 0) return fail(MPI_ERR_ARG, "nnodes is {}: it must be positive", nnodes);
    if (ndims < 0) return fail(MPI_ERR_DIMS, "ndims is {}: it must not be negative", ndims);
    if (ndims == 0) return nnodes == 1 ? kOk : fail(MPI_ERR_DIMS, "no dimensions, but nnodes is {}", nnodes);
    TMPI_TRY(check_pointer(dims, "dims"));
    return fill_dims(nnodes, ndims, dims);
  });
}
TMPI_PROFILED(MPI_Dims_create);

int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  return on_grid("MPI_Cartdim_get", comm, [&](Comm&, const Grid& grid) -> Err {
    TMPI_TRY(check_pointer(ndims, "ndims"));
    *ndims = grid.ndims();
    return kOk;
  });
}
TMPI_PROFILED(MPI_Cartdim_get);

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  return on_grid("MPI_Cart_get", comm, [&](Comm& c, const Grid& grid) -> Err {
    TMPI_TRY(check_room("maxdims", maxdims, grid.ndims()));
    if (grid.ndims() == 0) return kOk;
    TMPI_TRY(check_pointer(dims, "dims"));
    TMPI_TRY(check_pointer(periods, "periods"));
    TMPI_TRY(check_pointer(coords, "coords"));
    std::copy(grid.dims.begin(), grid.dims.end(), dims);
    std::copy(grid.periods.begin(), grid.periods.end(), periods);
    grid.coords_of(c.rank, coords);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Cart_get);

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  return on_grid("MPI_Cart_rank", comm, [&](Comm&, const Grid& grid) -> Err {
    TMPI_TRY(check_pointer(rank, "rank"));
    if (grid.ndims() > 0) TMPI_TRY(check_pointer(coords, "coords"));
    std::vector<int> wrapped;
    TMPI_TRY(wrap_coords(grid, coords, wrapped));
    *rank = grid.rank_of(wrapped.data());
    return kOk;
  });
}
TMPI_PROFILED(MPI_Cart_rank);

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  return on_grid("MPI_Cart_coords", comm, [&](Comm& c, const Grid& grid) -> Err {
    if (rank < 0 || rank >= c.size)
      return fail(MPI_ERR_RANK, "rank is {}, but the communicator has ranks 0 to {}", rank, c.size - 1);
    TMPI_TRY(check_room("maxdims", maxdims, grid.ndims()));
    if (grid.ndims() > 0) TMPI_TRY(check_pointer(coords, "coords"));
    grid.coords_of(rank, coords);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Cart_coords);

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  return on_grid("MPI_Cart_shift", comm, [&](Comm& c, const Grid& grid) -> Err {
    if (direction < 0 || direction >= grid.ndims())
      return fail(MPI_ERR_DIMS, "direction is {}, but the grid has {} dimensions, counted from 0", direction,
                  grid.ndims());
    TMPI_TRY(check_pointer(rank_source, "rank_source"));
    TMPI_TRY(check_pointer(rank_dest, "rank_dest"));
    shift(grid, c.rank, direction, disp, *rank_source, *rank_dest);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Cart_shift);

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  return on_comm("MPI_Cart_map", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(newrank, "newrank"));
    TMPI_TRY(check_grid(c, ndims, dims, periods));
    *newrank = c.rank < grid_size(ndims, dims) ? c.rank : MPI_UNDEFINED;  // as MPI_Cart_create places ranks
    return kOk;
  });
}
TMPI_PROFILED(MPI_Cart_map);

int PMPI_Topo_test(MPI_Comm comm, int* status) {
  return on_comm("MPI_Topo_test", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(status, "status"));
    *status = c.topology != nullptr ? c.topology->kind : MPI_UNDEFINED;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Topo_test);
