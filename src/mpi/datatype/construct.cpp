#include "mpi/datatype/construct.hpp"

#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/datatype/builder.hpp"
#include "mpi/datatype/check.hpp"

namespace tmpi::mpi {

namespace {

/// The large-count constructors describe all their integers and displacements as large counts (MPI
/// report, 5.1.13).
template <class I>
inline constexpr bool kLarge = std::is_same_v<I, MPI_Count>;

template <class I>
void record(Description& description, I integer) {
  if constexpr (kLarge<I>)
    description.large_counts.push_back(integer);
  else
    description.integers.push_back(integer);
}
template <class I>
void record(Description& description, const I* integers, I count) {
  if constexpr (kLarge<I>)
    description.large_counts.insert(description.large_counts.end(), integers, integers + count);
  else
    description.integers.insert(description.integers.end(), integers, integers + count);
}
template <class I>
void describe_bytes(Description& description, const MPI_Aint* displacements, I count) {
  auto& list = kLarge<I> ? description.large_counts : description.addresses;
  list.insert(list.end(), displacements, displacements + count);
}

Description describe_type(int combiner, const Datatype& old) {
  Description description;
  description.combiner = combiner;
  description.types.push_back(&old);
  return description;
}

Err check_blocklength(MPI_Count blocklength, MPI_Count index = -1) {
  if (blocklength >= 0) [[likely]]
    return kOk;
  if (index < 0) return fail(MPI_ERR_ARG, "blocklength is {}; it must be 0 or more", blocklength);
  return fail(MPI_ERR_ARG, "array_of_blocklengths[{}] is {}; block lengths must be 0 or more", index,
              blocklength);
}

template <class I>
Err check_list(I count, const void* array, const char* name) {
  TMPI_TRY(check_count(count));
  return count > 0 ? check_pointer(array, name) : kOk;
}

template <class I>
Err check_blocklengths(I count, const I* blocklengths) {
  TMPI_TRY(check_list(count, blocklengths, "array_of_blocklengths"));
  for (I i = 0; i < count; ++i) TMPI_TRY(check_blocklength(blocklengths[i], i));
  return kOk;
}

/// `unit` bytes times an element displacement.
Err scaled(MPI_Count displacement, MPI_Count unit, MPI_Count& bytes) {
  if (!__builtin_mul_overflow(displacement, unit, &bytes)) [[likely]]
    return kOk;
  return fail(MPI_ERR_ARG,
              "a displacement or stride of {} elements of {} bytes exceeds what MPI_Aint can hold",
              displacement, unit);
}

}  // namespace

template <class I>
Err construct_contiguous(I count, const Datatype& old, Datatype*& out) {
  TMPI_TRY(check_count(count));
  Description description = describe_type(MPI_COMBINER_CONTIGUOUS, old);
  record(description, count);
  return DatatypeBuilder::strided(std::move(description), 1, count, 0, old, out);
}

template <class I>
Err construct_vector(I count, I blocklength, I stride, const Datatype& old, Datatype*& out) {
  TMPI_TRY(check_count(count));
  TMPI_TRY(check_blocklength(blocklength));
  MPI_Count bytes = 0;
  TMPI_TRY(scaled(stride, old.extent(), bytes));
  Description description = describe_type(MPI_COMBINER_VECTOR, old);
  for (const I integer : {count, blocklength, stride}) record(description, integer);
  return DatatypeBuilder::strided(std::move(description), count, blocklength, bytes, old, out);
}

template <class I>
Err construct_hvector(I count, I blocklength, MPI_Aint stride, const Datatype& old, Datatype*& out) {
  TMPI_TRY(check_count(count));
  TMPI_TRY(check_blocklength(blocklength));
  Description description = describe_type(MPI_COMBINER_HVECTOR, old);
  for (const I integer : {count, blocklength}) record(description, integer);
  describe_bytes<I>(description, &stride, 1);
  return DatatypeBuilder::strided(std::move(description), count, blocklength, stride, old, out);
}

template <class I>
Err construct_indexed(I count, const I* blocklengths, const I* displacements, const Datatype& old,
                      Datatype*& out) {
  TMPI_TRY(check_blocklengths(count, blocklengths));
  TMPI_TRY(check_list(count, displacements, "array_of_displacements"));
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  for (I i = 0; i < count; ++i) {
    blocks[i] = {blocklengths[i], 0, &old};
    TMPI_TRY(scaled(displacements[i], old.extent(), blocks[i].displacement));
  }
  Description description = describe_type(MPI_COMBINER_INDEXED, old);
  record(description, count);
  record(description, blocklengths, count);
  record(description, displacements, count);
  return DatatypeBuilder::blocks(std::move(description), blocks, out);
}

template <class I>
Err construct_hindexed(I count, const I* blocklengths, const MPI_Aint* displacements, const Datatype& old,
                       Datatype*& out) {
  TMPI_TRY(check_blocklengths(count, blocklengths));
  TMPI_TRY(check_list(count, displacements, "array_of_displacements"));
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  for (I i = 0; i < count; ++i) blocks[i] = {blocklengths[i], displacements[i], &old};
  Description description = describe_type(MPI_COMBINER_HINDEXED, old);
  record(description, count);
  record(description, blocklengths, count);
  describe_bytes(description, displacements, count);
  return DatatypeBuilder::blocks(std::move(description), blocks, out);
}

template <class I>
Err construct_indexed_block(I count, I blocklength, const I* displacements, const Datatype& old,
                            Datatype*& out) {
  TMPI_TRY(check_list(count, displacements, "array_of_displacements"));
  TMPI_TRY(check_blocklength(blocklength));
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  for (I i = 0; i < count; ++i) {
    blocks[i] = {blocklength, 0, &old};
    TMPI_TRY(scaled(displacements[i], old.extent(), blocks[i].displacement));
  }
  Description description = describe_type(MPI_COMBINER_INDEXED_BLOCK, old);
  record(description, count);
  record(description, blocklength);
  record(description, displacements, count);
  return DatatypeBuilder::blocks(std::move(description), blocks, out);
}

template <class I>
Err construct_hindexed_block(I count, I blocklength, const MPI_Aint* displacements, const Datatype& old,
                             Datatype*& out) {
  TMPI_TRY(check_list(count, displacements, "array_of_displacements"));
  TMPI_TRY(check_blocklength(blocklength));
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  for (I i = 0; i < count; ++i) blocks[i] = {blocklength, displacements[i], &old};
  Description description = describe_type(MPI_COMBINER_HINDEXED_BLOCK, old);
  record(description, count);
  record(description, blocklength);
  describe_bytes(description, displacements, count);
  return DatatypeBuilder::blocks(std::move(description), blocks, out);
}

template <class I>
Err construct_struct(I count, const I* blocklengths, const MPI_Aint* displacements, const MPI_Datatype* types,
                     Datatype*& out) {
  TMPI_TRY(check_blocklengths(count, blocklengths));
  TMPI_TRY(check_list(count, displacements, "array_of_displacements"));
  TMPI_TRY(check_list(count, types, "array_of_types"));
  Description description;
  description.combiner = MPI_COMBINER_STRUCT;
  record(description, count);
  record(description, blocklengths, count);
  describe_bytes(description, displacements, count);
  description.blocklengths.assign(blocklengths, blocklengths + count);
  std::vector<Block> blocks(static_cast<std::size_t>(count));
  for (I i = 0; i < count; ++i) {
    const Datatype* type = datatype_from(types[i]);
    if (type == nullptr) return bad_type(types[i]);
    description.types.push_back(type);
    blocks[i] = {blocklengths[i], displacements[i], type};
  }
  return DatatypeBuilder::blocks(std::move(description), blocks, out);
}

Err construct_resized(const Datatype& old, MPI_Count lb, MPI_Count extent, bool large, Datatype*& out) {
  Description description = describe_type(MPI_COMBINER_RESIZED, old);
  (large ? description.large_counts : description.addresses) = {lb, extent};
  return DatatypeBuilder::resized(std::move(description), old, lb, extent, out);
}

Err construct_dup(const Datatype& old, Datatype*& out) {
  return DatatypeBuilder::duplicate(describe_type(MPI_COMBINER_DUP, old), old, out);
}

#define INSTANTIATE(I)                                                                           \
  template Err construct_contiguous<I>(I, const Datatype&, Datatype*&);                          \
  template Err construct_vector<I>(I, I, I, const Datatype&, Datatype*&);                        \
  template Err construct_hvector<I>(I, I, MPI_Aint, const Datatype&, Datatype*&);                \
  template Err construct_indexed<I>(I, const I*, const I*, const Datatype&, Datatype*&);         \
  template Err construct_hindexed<I>(I, const I*, const MPI_Aint*, const Datatype&, Datatype*&); \
  template Err construct_indexed_block<I>(I, I, const I*, const Datatype&, Datatype*&);          \
  template Err construct_hindexed_block<I>(I, I, const MPI_Aint*, const Datatype&, Datatype*&);  \
  template Err construct_struct<I>(I, const I*, const MPI_Aint*, const MPI_Datatype*, Datatype*&);

INSTANTIATE(int)
INSTANTIATE(MPI_Count)
#undef INSTANTIATE

}  // namespace tmpi::mpi
