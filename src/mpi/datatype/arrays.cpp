#include "mpi/datatype/arrays.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/base/check.hpp"
#include "mpi/datatype/builder.hpp"

namespace tmpi::mpi {

namespace {

template <class I>
inline constexpr bool kLarge = std::is_same_v<I, MPI_Count>;

/// What is taken along one dimension of `size` elements: `count` blocks of `length` from `start` on, `stride`
/// elements apart, and after them one of `rest`, which is 0 or less than `length`.
struct Slice {
  MPI_Count size;
  MPI_Count start;
  MPI_Count count;
  MPI_Count length;
  MPI_Count stride;
  MPI_Count rest;
};

/// A type of this file's own, which the result does not mention: released when the next dimension stands on
/// it.
class Step {
 public:
  explicit Step(const Datatype& old) : type_(&old) { type_->retain(); }
  ~Step() { type_->release(); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  const Datatype& type() const noexcept { return *type_; }
  void replace(Datatype* type) noexcept {
    type_->release();
    type_ = type;
  }

  /// One more dimension around what there is; afterwards the extent is that of the whole dimension.
  Err wrap(const Slice& slice) {
    const MPI_Count unit = type_->extent();
    MPI_Count extent = 0, start = 0, stride = 0, tail = 0;
    if (__builtin_mul_overflow(unit, slice.size, &extent) ||
        __builtin_mul_overflow(unit, slice.start, &start) ||
        __builtin_mul_overflow(unit, slice.stride, &stride) ||
        __builtin_mul_overflow(stride, slice.count, &tail))
      return fail(MPI_ERR_COUNT,
                  "an array dimension of {} elements of {} bytes exceeds what MPI_Count can hold", slice.size,
                  unit);
    Datatype* made = nullptr;
    TMPI_TRY(DatatypeBuilder::strided({}, slice.count, slice.length, stride, *type_, made));
    Step blocks(*made);
    made->release();
    const std::vector<Block> parts = {{1, start, made}, {slice.rest, start + tail, type_}};
    TMPI_TRY(DatatypeBuilder::blocks({}, parts, made));
    replace(made);
    TMPI_TRY(DatatypeBuilder::resized({}, *type_, 0, extent, made));
    replace(made);
    return kOk;
  }

  /// The result: like the last step, and described by the constructor's arguments.
  Err finish(Description description, Datatype*& out) const {
    return DatatypeBuilder::resized(std::move(description), *type_, 0, type_->extent(), out);
  }

 private:
  const Datatype* type_;
};

/// Wraps the dimensions from the one that varies fastest to the slowest.
Err wrap_all(Step& step, const std::vector<Slice>& slices, int order) {
  const int ndims = static_cast<int>(slices.size());
  for (int i = 0; i < ndims; ++i)
    TMPI_TRY(step.wrap(slices[static_cast<std::size_t>(order == MPI_ORDER_C ? ndims - 1 - i : i)]));
  return kOk;
}

template <class I>
void record(Description& description, const I* list, int ndims) {
  if constexpr (kLarge<I>)
    description.large_counts.insert(description.large_counts.end(), list, list + ndims);
  else
    description.integers.insert(description.integers.end(), list, list + ndims);
}

Err check_shape(int ndims, int order) {
  if (ndims < 1) return fail(MPI_ERR_DIMS, "ndims is {}: an array has one dimension or more", ndims);
  if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN) return kOk;
  return fail(MPI_ERR_ARG, "order is {}: it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
}

Err check_block(int dimension, MPI_Count size, MPI_Count subsize, MPI_Count start) {
  if (size < 1)
    return fail(MPI_ERR_ARG, "array_of_sizes[{}] is {}: a dimension has one element or more", dimension,
                size);
  if (subsize < 1 || subsize > size)
    return fail(MPI_ERR_ARG, "array_of_subsizes[{}] is {}: it must be 1 to {}, the size of the dimension",
                dimension, subsize, size);
  if (start < 0 || start > size - subsize)
    return fail(
        MPI_ERR_ARG,
        "array_of_starts[{}] is {}: a block of {} in a dimension of {} must start at 0 to {} (counted "
        "from 0 in Fortran too)",
        dimension, start, subsize, size, size - subsize);
  return kOk;
}

/// Blocks of `width` elements dealt out in turn to `processes`, of which this is number `coordinate`.
Slice deal(MPI_Count size, MPI_Count width, MPI_Count coordinate, MPI_Count processes) noexcept {
  constexpr MPI_Count kMost = std::numeric_limits<MPI_Count>::max();
  MPI_Count round, start;
  if (__builtin_mul_overflow(width, processes, &round)) round = kMost;  // all is there in the first
  if (__builtin_mul_overflow(coordinate, width, &start)) start = kMost;
  start = std::min(start, size);
  const MPI_Count whole = (size - start) / round;                        // rounds of which all is there
  const MPI_Count last = std::min(width, size - start - whole * round);  // what the last round gives
  const bool full = last == width;
  return {size, start, whole + (full ? 1 : 0), width, round, full ? 0 : last};
}

/// The slice of one dimension. The report, 5.1.4, says which arguments are right.
Err slice_of(const Distribution& d, int i, MPI_Count gsize, int coordinate, Slice& slice) {
  const int darg = d.dargs[i], psize = d.psizes[i];
  if (gsize < 1)
    return fail(MPI_ERR_ARG, "array_of_gsizes[{}] is {}: a dimension has one element or more", i, gsize);
  const bool chosen = darg != MPI_DISTRIBUTE_DFLT_DARG;
  if (chosen && d.distribs[i] != MPI_DISTRIBUTE_NONE && darg < 1)
    return fail(MPI_ERR_ARG, "array_of_dargs[{}] is {}: it must be positive or MPI_DISTRIBUTE_DFLT_DARG", i,
                darg);
  switch (d.distribs[i]) {
    case MPI_DISTRIBUTE_NONE:
      if (psize != 1)
        return fail(MPI_ERR_ARG,
                    "array_of_psizes[{}] is {}: a dimension that is not distributed (MPI_DISTRIBUTE_NONE) "
                    "has 1 process",
                    i, psize);
      slice = deal(gsize, gsize, 0, 1);
      return kOk;
    case MPI_DISTRIBUTE_BLOCK: {
      const MPI_Count most = (gsize - 1) / psize + 1;
      const MPI_Count width = chosen ? darg : most;
      if (width < most)
        return fail(MPI_ERR_ARG,
                    "array_of_dargs[{}] is {}: {} blocks of that size do not cover {} elements; use "
                    "MPI_DISTRIBUTE_DFLT_DARG, or MPI_DISTRIBUTE_CYCLIC",
                    i, darg, psize, gsize);
      slice = deal(gsize, width, coordinate, psize);
      return kOk;
    }
    case MPI_DISTRIBUTE_CYCLIC:
      slice = deal(gsize, chosen ? darg : 1, coordinate, psize);
      return kOk;
    default:
      return fail(MPI_ERR_ARG,
                  "array_of_distribs[{}] is {}: it must be MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC or "
                  "MPI_DISTRIBUTE_NONE",
                  i, d.distribs[i]);
  }
}

Err check_grid(const Distribution& d) {
  TMPI_TRY(check_pointer(d.distribs, "array_of_distribs"));
  TMPI_TRY(check_pointer(d.dargs, "array_of_dargs"));
  TMPI_TRY(check_pointer(d.psizes, "array_of_psizes"));
  if (d.size < 1) return fail(MPI_ERR_ARG, "size is {}: the process group has one process or more", d.size);
  if (d.rank < 0 || d.rank >= d.size)
    return fail(MPI_ERR_RANK, "rank is {}, but the process group has ranks 0 to {}", d.rank, d.size - 1);
  __int128 processes = 1;
  for (int i = 0; i < d.ndims; ++i) {
    if (d.psizes[i] < 1)
      return fail(MPI_ERR_ARG, "array_of_psizes[{}] is {}: it must be positive", i, d.psizes[i]);
    if (processes <= d.size) processes *= d.psizes[i];
  }
  if (processes == d.size) return kOk;
  return fail(MPI_ERR_ARG,
              "the product of array_of_psizes is not size = {}: the grid must have a place for every process",
              d.size);
}

}  // namespace

template <class I>
Err construct_subarray(int ndims, const I* sizes, const I* subsizes, const I* starts, int order,
                       const Datatype& old, Datatype*& out) {
  TMPI_TRY(check_shape(ndims, order));
  TMPI_TRY(check_pointer(sizes, "array_of_sizes"));
  TMPI_TRY(check_pointer(subsizes, "array_of_subsizes"));
  TMPI_TRY(check_pointer(starts, "array_of_starts"));
  std::vector<Slice> slices;
  for (int i = 0; i < ndims; ++i) {
    TMPI_TRY(check_block(i, sizes[i], subsizes[i], starts[i]));
    slices.push_back({sizes[i], starts[i], 1, subsizes[i], 0, 0});
  }
  Step step(old);
  TMPI_TRY(wrap_all(step, slices, order));
  Description description;
  description.combiner = MPI_COMBINER_SUBARRAY;
  description.types = {&old};
  description.integers = {ndims};
  for (const I* list : {sizes, subsizes, starts}) record(description, list, ndims);
  description.integers.push_back(order);
  return step.finish(std::move(description), out);
}

template <class I>
Err construct_darray(const Distribution& d, const I* gsizes, const Datatype& old, Datatype*& out) {
  TMPI_TRY(check_shape(d.ndims, d.order));
  TMPI_TRY(check_pointer(gsizes, "array_of_gsizes"));
  TMPI_TRY(check_grid(d));
  std::vector<Slice> slices(static_cast<std::size_t>(d.ndims));
  int rest = d.rank;  // the last coordinate varies fastest
  for (int i = d.ndims - 1; i >= 0; --i) {
    TMPI_TRY(slice_of(d, i, gsizes[i], rest % d.psizes[i], slices[static_cast<std::size_t>(i)]));
    rest /= d.psizes[i];
  }
  Step step(old);
  TMPI_TRY(wrap_all(step, slices, d.order));
  Description description;
  description.combiner = MPI_COMBINER_DARRAY;
  description.types = {&old};
  description.integers = {d.size, d.rank, d.ndims};
  record(description, gsizes, d.ndims);
  for (const int* list : {d.distribs, d.dargs, d.psizes}) record(description, list, d.ndims);
  description.integers.push_back(d.order);
  return step.finish(std::move(description), out);
}

#define INSTANTIATE(I)                                                                                     \
  template Err construct_subarray<I>(int, const I*, const I*, const I*, int, const Datatype&, Datatype*&); \
  template Err construct_darray<I>(const Distribution&, const I*, const Datatype&, Datatype*&);

INSTANTIATE(int)
INSTANTIATE(MPI_Count)
#undef INSTANTIATE

}  // namespace tmpi::mpi
