// The array constructors of the MPI report: MPI_Type_create_subarray (5.1.3) and MPI_Type_create_darray
// (5.1.4), part of an array with ndims dimensions as one datatype. `I` as in construct.hpp. On success `out`
// has one reference and is not committed; its bounds are those of the whole array. No function suspends.
#pragma once

#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

/// The block of `subsizes` elements that begins at `starts` in an array of `sizes`.
template <class I>
Err construct_subarray(int ndims, const I* sizes, const I* subsizes, const I* starts, int order,
                       const Datatype& old, Datatype*& out);

/// The arguments of MPI_Type_create_darray that are int in both forms.
struct Distribution {
  int size;             ///< processes
  int rank;             ///< whose part the type describes
  int ndims;            ///< dimensions of the array and of the grid of processes
  const int* distribs;  ///< MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE, for each dimension
  const int* dargs;     ///< its argument, or MPI_DISTRIBUTE_DFLT_DARG
  const int* psizes;    ///< processes along the dimension
  int order;            ///< of the array; the grid of processes is always in row-major order
};

/// What `rank` owns of an array of `gsizes` that is distributed over `size` processes.
template <class I>
Err construct_darray(const Distribution& distribution, const I* gsizes, const Datatype& old, Datatype*& out);

}  // namespace tmpi::mpi
