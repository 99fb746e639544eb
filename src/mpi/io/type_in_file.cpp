// A datatype as it is in a file whose representation is not the native one: built again with the representation's
// basic elements.
#include <span>
#include <vector>

#include "mpi/datatype/arrays.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/description.hpp"
#include "mpi/io/representation.hpp"

namespace tmpi::mpi {
namespace {

using Counts = std::vector<MPI_Count>;

// All arguments in the order of the constructor's: int, address and large-count lists follow each other.
Counts arguments_of(const Description& description) {
  Counts all(description.integers.begin(), description.integers.end());
  all.insert(all.end(), description.addresses.begin(), description.addresses.end());
  all.insert(all.end(), description.large_counts.begin(), description.large_counts.end());
  return all;
}

// Of arrays the large lists are apart, which stand between the others.
Counts array_arguments(const Description& description, std::size_t before) {
  Counts all(description.integers.begin(),
             description.integers.begin() + static_cast<std::ptrdiff_t>(before));
  all.insert(all.end(), description.large_counts.begin(), description.large_counts.end());
  all.insert(all.end(), description.integers.begin() + static_cast<std::ptrdiff_t>(before),
             description.integers.end());
  return all;
}

Err subarray(const Description& description, const Datatype& old, Datatype*& out) {
  const Counts all = array_arguments(description, 1);
  const auto ndims = static_cast<std::size_t>(all[0]);
  const MPI_Count* lists = all.data() + 1;
  return construct_subarray<MPI_Count>(static_cast<int>(ndims), lists, lists + ndims, lists + 2 * ndims,
                                       static_cast<int>(all.back()), old, out);
}

Err darray(const Description& description, const Datatype& old, Datatype*& out) {
  const Counts all = array_arguments(description, 3);
  const auto ndims = static_cast<std::size_t>(all[2]);
  const MPI_Count* gsizes = all.data() + 3;
  const std::vector<int> rest(all.begin() + 3 + static_cast<std::ptrdiff_t>(ndims), all.end());
  const Distribution distribution{.size = static_cast<int>(all[0]),
                                  .rank = static_cast<int>(all[1]),
                                  .ndims = static_cast<int>(ndims),
                                  .distribs = rest.data(),
                                  .dargs = rest.data() + ndims,
                                  .psizes = rest.data() + 2 * ndims,
                                  .order = rest.back()};
  return construct_darray<MPI_Count>(distribution, gsizes, old, out);
}

Err structure(const Description& description, std::span<const Datatype* const> types, Datatype*& out) {
  const Counts all = arguments_of(description);
  const auto count = static_cast<std::size_t>(all[0]);
  std::vector<MPI_Datatype> handles;
  for (const Datatype* type : types) handles.push_back(type->handle());
  return construct_struct<MPI_Count>(all[0], all.data() + 1, all.data() + 1 + count, handles.data(), out);
}

Err rebuild(const Description& description, std::span<const Datatype* const> types, Datatype*& out) {
  const Datatype& old = *types[0];
  const Counts all = arguments_of(description);
  const MPI_Count* list = all.data();
  switch (description.combiner) {
    case MPI_COMBINER_DUP:
      return construct_dup(old, out);
    case MPI_COMBINER_CONTIGUOUS:
      return construct_contiguous<MPI_Count>(list[0], old, out);
    case MPI_COMBINER_VECTOR:
      return construct_vector<MPI_Count>(list[0], list[1], list[2], old, out);
    case MPI_COMBINER_HVECTOR:
      return construct_hvector<MPI_Count>(list[0], list[1], list[2], old, out);
    case MPI_COMBINER_INDEXED:
      return construct_indexed<MPI_Count>(list[0], list + 1, list + 1 + list[0], old, out);
    case MPI_COMBINER_HINDEXED:
      return construct_hindexed<MPI_Count>(list[0], list + 1, list + 1 + list[0], old, out);
    case MPI_COMBINER_INDEXED_BLOCK:
      return construct_indexed_block<MPI_Count>(list[0], list[1], list + 2, old, out);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return construct_hindexed_block<MPI_Count>(list[0], list[1], list + 2, old, out);
    case MPI_COMBINER_STRUCT:
      return structure(description, types, out);
    case MPI_COMBINER_SUBARRAY:
      return subarray(description, old, out);
    case MPI_COMBINER_DARRAY:
      return darray(description, old, out);
    case MPI_COMBINER_RESIZED:
      return construct_resized(old, list[0], list[1], true, out);
    default:
      return fail(MPI_ERR_UNSUPPORTED_DATAREP,
                  "a type made by combiner {} has no form in another data representation",
                  description.combiner);
  }
}

}  // namespace

Err type_in_file(const Datatype& type, const Representation& representation, const Datatype*& out) {
  Datatype* made = nullptr;
  if (type.predefined()) {
    MPI_Count bytes = 0;
    TMPI_TRY(representation.basic_extent(type, bytes));
    TMPI_TRY(construct_contiguous<MPI_Count>(bytes, *datatype_from(MPI_BYTE), made));
    out = made;
    return kOk;
  }
  const Description& description = type.description();
  std::vector<const Datatype*> types;
  Err error;
  for (const Datatype* old : description.types) {
    const Datatype* scaled = nullptr;
    error = type_in_file(*old, representation, scaled);
    if (error) break;
    types.push_back(scaled);
  }
  if (!error) error = types.empty() ? construct_dup(type, made) : rebuild(description, types, made);
  for (const Datatype* scaled : types) scaled->release();
  out = made;
  return error;
}

}  // namespace tmpi::mpi
