#include "mpi/topo/cart.hpp"

#include <limits>
#include <utility>

#include "mpi/create/create.hpp"

namespace tmpi::mpi {
namespace {

// `value` brought into 0 .. size - 1 as on a ring.
int wrapped(long value, int size) noexcept {
  const long rest = value % size;
  return static_cast<int>(rest < 0 ? rest + size : rest);
}

}  // namespace

void Grid::coords_of(int rank, int coords[]) const noexcept {
  for (int d = ndims() - 1; d >= 0; --d) {
    coords[d] = rank % dims[static_cast<std::size_t>(d)];
    rank /= dims[static_cast<std::size_t>(d)];
  }
}

int Grid::rank_of(const int coords[]) const noexcept {
  int rank = 0;
  for (int d = 0; d < ndims(); ++d) rank = rank * dims[static_cast<std::size_t>(d)] + coords[d];
  return rank;
}

void Grid::neighbours(int rank, Neighbours& result) const {
  for (int d = 0; d < ndims(); ++d) {
    int down, up;
    shift(*this, rank, d, 1, down, up);
    result.sources.insert(result.sources.end(), {down, up});
  }
  result.destinations = result.sources;
}

int grid_size(int ndims, const int dims[]) noexcept {
  long size = 1;
  for (int d = 0; d < ndims; ++d) {
    size *= dims[d];
    if (size > std::numeric_limits<int>::max()) return 0;
  }
  return static_cast<int>(size);
}

Err create_cart(Comm& parent, Grid shape, Comm*& created) {
  auto grid = std::make_shared<const Grid>(std::move(shape));
  const int members = grid_size(grid->ndims(), grid->dims.data());
  return split(parent, parent.rank < members ? 0 : MPI_UNDEFINED, 0, created,
               [&](int, const Group&) { return grid; });
}

Err create_sub_cart(Comm& parent, const Grid& grid, const int remain[], Comm*& created) {
  std::vector<int> coords(static_cast<std::size_t>(grid.ndims()));
  grid.coords_of(parent.rank, coords.data());
  auto kept = std::make_shared<Grid>();
  int color = 0;
  for (int d = 0; d < grid.ndims(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (remain[d]) {
      kept->dims.push_back(grid.dims[i]);
      kept->periods.push_back(grid.periods[i]);
    } else {
      color = color * grid.dims[i] + coords[i];
    }
  }
  // Ranks that share the dropped coordinates stand in row-major order of the others already.
  return split(parent, color, 0, created, [&](int, const Group&) { return kept; });
}

void shift(const Grid& grid, int rank, int direction, int displacement, int& source, int& dest) {
  const auto d = static_cast<std::size_t>(direction);
  std::vector<int> coords(static_cast<std::size_t>(grid.ndims()));
  grid.coords_of(rank, coords.data());
  const int here = coords[d], size = grid.dims[d];
  const auto at = [&](long position) {
    if (!grid.periods[d] && (position < 0 || position >= size)) return MPI_PROC_NULL;
    coords[d] = wrapped(position, size);
    return grid.rank_of(coords.data());
  };
  source = at(long{here} - displacement);
  dest = at(long{here} + displacement);
}

}  // namespace tmpi::mpi
