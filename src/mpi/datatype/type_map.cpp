#include "mpi/datatype/type_map.hpp"

#include <doctest/doctest.h>

namespace tmpi::mpi::test {

Pair Generator::basic() {
  struct Basic {
    MPI_Datatype handle;
    std::vector<Element> elements;
  };
  static const std::vector<Basic> kBasics = {
      {MPI_CHAR, {{0, 1, 1}}},
      {MPI_SHORT, {{0, 2, 2}}},
      {MPI_INT, {{0, 4, 4}}},
      {MPI_DOUBLE, {{0, 8, 8}}},
      {MPI_C_DOUBLE_COMPLEX, {{0, 16, 8}}},
      {MPI_LONG_DOUBLE, {{0, 16, 16}}},
      {MPI_DOUBLE_INT, {{0, 8, 8}, {8, 4, 4}}},
      {MPI_SHORT_INT, {{0, 2, 2}, {4, 4, 4}}},
  };
  const Basic& basic = kBasics[pick(0, static_cast<MPI_Count>(kBasics.size()) - 1)];
  TypeMap map;
  map.elements = basic.elements;
  return {datatype_from(basic.handle), std::move(map)};
}

Pair Generator::resized(const Pair& old) {
  const MPI_Count lb = pick(-8, 8);
  const MPI_Count extent = std::max<MPI_Count>(old.map.extent(), 0) + pick(-4, 24);
  Pair made;
  REQUIRE(!construct_resized(*old.type, lb, extent, false, made.type));
  made.map.elements = old.map.elements;
  made.map.lower = {lb};
  made.map.upper = {lb + extent};
  return made;
}

Pair Generator::strided(const Pair& old) {
  const MPI_Count count = pick(0, 5);
  const MPI_Count length = pick(0, 4);
  Pair made;
  MPI_Count stride = 0;
  switch (pick(0, 2)) {
    case 0:
      REQUIRE(!construct_contiguous<int>(static_cast<int>(length), *old.type, made.type));
      made.map.append_block(old.map, length, 0);
      return made;
    case 1: {
      const int elements = static_cast<int>(pick(-2, 8));
      stride = elements * old.map.extent();
      REQUIRE(!construct_vector<MPI_Count>(count, length, elements, *old.type, made.type));
      break;
    }
    default:
      stride = length * old.map.extent() + pick(-3, 20);
      REQUIRE(!construct_hvector<int>(static_cast<int>(count), static_cast<int>(length), stride, *old.type,
                                      made.type));
  }
  for (MPI_Count i = 0; i < count; ++i) made.map.append_block(old.map, length, i * stride);
  return made;
}

Pair Generator::indexed(const Pair& old) {
  const int count = static_cast<int>(pick(0, 12));
  const bool bytes = pick(0, 1) != 0;
  const bool equal = pick(0, 1) != 0;
  const bool regular = pick(0, 3) == 0;
  std::vector<int> lengths, displacements;
  std::vector<MPI_Aint> addresses;
  int at = static_cast<int>(pick(-10, 10));
  const int common = static_cast<int>(pick(0, 3));
  for (int i = 0; i < count; ++i) {
    lengths.push_back(equal ? common : static_cast<int>(pick(0, 3)));
    displacements.push_back(at);
    addresses.push_back(at * (bytes ? 1 : old.map.extent()));
    const int length = bytes ? static_cast<int>(lengths[i] * old.map.extent()) : lengths[i];
    at += regular ? 7 : length + static_cast<int>(pick(-1, 3)) * static_cast<int>(pick(0, 1));
  }
  Pair made;
  const int first = lengths.empty() ? 0 : lengths[0];
  if (bytes && equal)
    REQUIRE(!construct_hindexed_block<int>(count, first, addresses.data(), *old.type, made.type));
  else if (bytes)
    REQUIRE(!construct_hindexed<int>(count, lengths.data(), addresses.data(), *old.type, made.type));
  else if (equal)
    REQUIRE(!construct_indexed_block<int>(count, first, displacements.data(), *old.type, made.type));
  else
    REQUIRE(!construct_indexed<int>(count, lengths.data(), displacements.data(), *old.type, made.type));
  for (int i = 0; i < count; ++i) made.map.append_block(old.map, lengths[i], addresses[i]);
  return made;
}

Pair Generator::structure(const Pair& old, int depth) {
  const int count = static_cast<int>(pick(1, 4));
  std::vector<Pair> members;
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> handles;
  Pair made;
  MPI_Aint at = pick(-8, 8);
  for (int i = 0; i < count; ++i) {
    if (i > 0) members.push_back(make(depth - 1));
    const Pair& member = i == 0 ? old : members.back();
    lengths.push_back(static_cast<int>(pick(0, 3)));
    displacements.push_back(at);
    handles.push_back(handle_of(*member.type));
    made.map.append_block(member.map, lengths[i], at);
    at += lengths[i] * member.map.extent() + pick(0, 2) * pick(0, 8);
  }
  REQUIRE(!construct_struct<int>(count, lengths.data(), displacements.data(), handles.data(), made.type));
  return made;
}

namespace {

/// The type map of those elements of an array that `owned` (indices in the order of the arguments) says; the
/// elements stand in the order of memory, and the bounds are those of the whole array.
template <class Owned>
TypeMap part_of_array(const TypeMap& old, const std::vector<int>& sizes, int order, Owned&& owned) {
  const std::size_t ndims = sizes.size();
  TypeMap map, element;
  element.elements = old.elements;  // without the bounds of the element
  MPI_Count all = 1;
  for (int size : sizes) all *= size;
  for (MPI_Count place = 0; place < all; ++place) {
    std::vector<int> index(ndims);
    MPI_Count rest = place;
    for (std::size_t k = 0; k < ndims; ++k) {
      const std::size_t dimension = order == MPI_ORDER_C ? ndims - 1 - k : k;
      index[dimension] = static_cast<int>(rest % sizes[dimension]);
      rest /= sizes[dimension];
    }
    if (owned(index)) map.append(element, place * old.extent());
  }
  map.lower = {0};
  map.upper = {all * old.extent()};
  return map;
}

}  // namespace

Pair Generator::subarray(const Pair& old) {
  const int ndims = static_cast<int>(pick(1, 3));
  const int order = pick(0, 1) != 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  std::vector<int> sizes, subsizes, starts;
  for (int i = 0; i < ndims; ++i) {
    sizes.push_back(static_cast<int>(pick(1, 4)));
    subsizes.push_back(static_cast<int>(pick(1, sizes[i])));
    starts.push_back(static_cast<int>(pick(0, sizes[i] - subsizes[i])));
  }
  Pair made;
  REQUIRE(!construct_subarray<int>(ndims, sizes.data(), subsizes.data(), starts.data(), order, *old.type,
                                   made.type));
  made.map = part_of_array(old.map, sizes, order, [&](const std::vector<int>& index) {
    for (int i = 0; i < ndims; ++i) {
      if (index[i] < starts[i] || index[i] >= starts[i] + subsizes[i]) return false;
    }
    return true;
  });
  return made;
}

Pair Generator::distributed(const Pair& old) {
  const int ndims = static_cast<int>(pick(1, 3));
  const int order = pick(0, 1) != 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  std::vector<int> sizes, distribs, dargs, psizes, widths;
  int processes = 1;
  for (int i = 0; i < ndims; ++i) {
    const int size = static_cast<int>(pick(1, 7));
    const int kind = static_cast<int>(pick(0, 2));
    const int grid = kind == 0 ? 1 : static_cast<int>(pick(1, 3));
    const bool chosen = pick(0, 1) != 0;
    const int least = (size + grid - 1) / grid;
    const int width = kind == 0   ? size
                      : kind == 1 ? least + (chosen ? static_cast<int>(pick(0, 2)) : 0)
                                  : (chosen ? static_cast<int>(pick(1, 3)) : 1);
    sizes.push_back(size);
    distribs.push_back(kind == 0   ? MPI_DISTRIBUTE_NONE
                       : kind == 1 ? MPI_DISTRIBUTE_BLOCK
                                   : MPI_DISTRIBUTE_CYCLIC);
    dargs.push_back(chosen && kind != 0 ? width : MPI_DISTRIBUTE_DFLT_DARG);
    psizes.push_back(grid);
    widths.push_back(width);
    processes *= grid;
  }
  const int rank = static_cast<int>(pick(0, processes - 1));
  std::vector<int> coordinates(static_cast<std::size_t>(ndims));
  for (int i = ndims - 1, rest = rank; i >= 0; --i) {
    coordinates[i] = rest % psizes[i];
    rest /= psizes[i];
  }
  Pair made;
  REQUIRE(
      !construct_darray<int>({processes, rank, ndims, distribs.data(), dargs.data(), psizes.data(), order},
                             sizes.data(), *old.type, made.type));
  made.map = part_of_array(old.map, sizes, order, [&](const std::vector<int>& index) {
    for (int i = 0; i < ndims; ++i) {
      if (index[i] / widths[i] % psizes[i] != coordinates[i]) return false;
    }
    return true;
  });
  return made;
}

Pair Generator::make(int depth) {
  if (depth == 0) return basic();
  const Pair old = make(depth - 1);
  Pair made;
  switch (pick(0, 6)) {
    case 0:
      made = resized(old);
      break;
    case 1:
      made = strided(old);
      break;
    case 2:
      made = indexed(old);
      break;
    case 3:
      made = structure(old, depth);
      break;
    case 4:
      made = subarray(old);
      break;
    case 5:
      made = distributed(old);
      break;
    default:
      REQUIRE(!construct_dup(*old.type, made.type));
      made.map = old.map;
  }
  return made.map.elements.size() <= max_ ? std::move(made) : make(depth - 1);
}

}  // namespace tmpi::mpi::test
