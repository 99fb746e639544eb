// Datatypes, by how they have been made: as MPI_Type_get_contents would tell it.
#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/base/handle_memory.hpp"
#include "mpi/datatype/arrays.hpp"
#include "mpi/datatype/builder.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/description.hpp"
#include "mpi/datatype/selected.hpp"
#include "mpi/save/objects.hpp"

namespace tmpi::mpi {
namespace {

template <class T>
void save_list(Packer& to, const std::vector<T>& list) {
  to.value(list.size());
  for (const T& each : list) to.value(each);
}
template <class T>
std::vector<T> list(Unpacker& from) {
  std::vector<T> all(from.value<std::size_t>());
  for (T& each : all) each = from.value<T>();
  return all;
}

/// The arguments of a constructor, taken one after the other. `I`: of the plain functions or of the large-count ones, whose
/// counts and addresses are all in one list.
template <class I>
class Arguments {
 public:
  explicit Arguments(const Description& made) : integers_(counts(made)), addresses_(made.addresses) {}
  I next() { return integers_[at_++]; }
  const I* next(I count) { return &integers_[std::exchange(at_, at_ + static_cast<std::size_t>(count))]; }
  /// Displacements in bytes and the like.
  MPI_Aint address() { return *addresses(1); }
  const MPI_Aint* addresses(I count) {
    if constexpr (std::is_same_v<I, MPI_Count>) {
      const I* const first = next(count);
      converted_.assign(first, first + count);
      return converted_.data();
    } else {
      return &addresses_[std::exchange(address_at_, address_at_ + static_cast<std::size_t>(count))];
    }
  }

 private:
  static const std::vector<I>& counts(const Description& made) {
    if constexpr (std::is_same_v<I, MPI_Count>) {
      return made.large_counts;
    } else {
      return made.integers;
    }
  }
  const std::vector<I>& integers_;
  const std::vector<MPI_Aint>& addresses_;
  std::vector<MPI_Aint> converted_;
  std::size_t at_ = 0, address_at_ = 0;
};

template <class I>
Err construct_subarray_again(const Description& made, const Datatype& old, Datatype*& type) {
  const int ndims = made.integers.front(), order = made.integers.back();
  std::vector<I> numbers;
  if constexpr (std::is_same_v<I, MPI_Count>) {
    numbers = made.large_counts;
  } else {
    numbers.assign(made.integers.begin() + 1, made.integers.end() - 1);
  }
  return construct_subarray<I>(ndims, numbers.data(), numbers.data() + ndims, numbers.data() + 2 * ndims,
                               order, old, type);
}

template <class I>
Err construct_darray_again(const Description& made, const Datatype& old, Datatype*& type) {
  const int ndims = made.integers[2];
  constexpr bool kLarge = std::is_same_v<I, MPI_Count>;
  std::vector<I> gsizes;
  if constexpr (kLarge) {
    gsizes = made.large_counts;
  } else {
    gsizes.assign(made.integers.begin() + 3, made.integers.begin() + 3 + ndims);
  }
  const int* const distribs = made.integers.data() + 3 + (kLarge ? 0 : ndims);
  return construct_darray<I>({.size = made.integers[0],
                              .rank = made.integers[1],
                              .ndims = ndims,
                              .distribs = distribs,
                              .dargs = distribs + ndims,
                              .psizes = distribs + 2 * ndims,
                              .order = made.integers.back()},
                             gsizes.data(), old, type);
}

template <class I>
Err construct_struct_again(const Description& made, Datatype*& type) {
  Arguments<I> arguments(made);
  const I count = arguments.next();
  const I* const lengths = arguments.next(count);
  std::vector<MPI_Datatype> types;
  for (const Datatype* each : made.types) types.push_back(each->handle());
  return construct_struct<I>(count, lengths, arguments.addresses(count), types.data(), type);
}

template <class I>
Err construct_again(const Description& made, Datatype*& type) {
  if (made.combiner == MPI_COMBINER_STRUCT) return construct_struct_again<I>(made, type);
  const Datatype& old = *made.types.front();
  if (made.combiner == MPI_COMBINER_SUBARRAY) return construct_subarray_again<I>(made, old, type);
  if (made.combiner == MPI_COMBINER_DARRAY) return construct_darray_again<I>(made, old, type);
  Arguments<I> of(made);
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
      return construct_dup(old, type);
    case MPI_COMBINER_CONTIGUOUS:
      return construct_contiguous<I>(of.next(), old, type);
    case MPI_COMBINER_VECTOR: {
      const I count = of.next(), length = of.next();
      return construct_vector<I>(count, length, of.next(), old, type);
    }
    case MPI_COMBINER_HVECTOR: {
      const I count = of.next(), length = of.next();
      return construct_hvector<I>(count, length, of.address(), old, type);
    }
    case MPI_COMBINER_INDEXED: {
      const I count = of.next();
      const I* const lengths = of.next(count);
      return construct_indexed<I>(count, lengths, of.next(count), old, type);
    }
    case MPI_COMBINER_HINDEXED: {
      const I count = of.next();
      const I* const lengths = of.next(count);
      return construct_hindexed<I>(count, lengths, of.addresses(count), old, type);
    }
    case MPI_COMBINER_INDEXED_BLOCK: {
      const I count = of.next(), length = of.next();
      return construct_indexed_block<I>(count, length, of.next(count), old, type);
    }
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const I count = of.next(), length = of.next();
      return construct_hindexed_block<I>(count, length, of.addresses(count), old, type);
    }
    case MPI_COMBINER_RESIZED: {
      const MPI_Aint lower = of.address();
      return construct_resized(old, lower, of.address(), std::is_same_v<I, MPI_Count>, type);
    }
    default:
      return fail(MPI_ERR_INTERN, "a datatype with combiner {} cannot be made again", made.combiner);
  }
}

bool is_of_fortran(int combiner) noexcept {
  return combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX;
}

Err select_again(const Description& made, Datatype*& type) {
  const int first = made.integers.front(), last = made.integers.back();
  if (made.combiner == MPI_COMBINER_F90_INTEGER) return select_integer(last, type);
  return made.combiner == MPI_COMBINER_F90_REAL ? select_real(first, last, type)
                                                : select_complex(first, last, type);
}

/// What its constructor makes may need other types for a while.
Err construct_in_place(Description made, HandleMemory& memory, Datatype*& type) {
  void* const place = memory.expected();
  memory.expect(nullptr);
  Datatype* elsewhere = nullptr;
  TMPI_TRY(made.large_counts.empty() ? construct_again<int>(made, elsewhere)
                                     : construct_again<MPI_Count>(made, elsewhere));
  memory.expect(place);
  const Err copied = DatatypeBuilder::duplicate(std::move(made), *elsewhere, type);
  elsewhere->release();
  return copied;
}

}  // namespace

std::string why_not(const Datatype& type) {
  const Description& made = type.description();
  return made.types.empty() && !is_of_fortran(made.combiner) ? "has a datatype that cannot be made again"
                                                             : "";
}

void save(Packer& to, Datatype& type) {
  const Description& made = type.description();
  to.value(made.combiner);
  save_list(to, made.integers);
  save_list(to, made.addresses);
  save_list(to, made.large_counts);
  save_list(to, made.blocklengths);
  to.value(made.types.size());
  for (const Datatype* old : made.types) to.value(reinterpret_cast<std::uintptr_t>(old->handle()));
  to.value(type.committed());
  to.value(type.handles());
  to.text(type.name());
  save_attributes(to, type.attributes());
}

Err revive_datatype(Unpacker& from, HandleMemory& memory, Datatype*& type, bool& freed) {
  Description made;
  made.combiner = from.value<int>();
  made.integers = list<int>(from);
  made.addresses = list<MPI_Aint>(from);
  made.large_counts = list<MPI_Count>(from);
  made.blocklengths = list<MPI_Count>(from);
  made.types.resize(from.value<std::size_t>());
  for (const Datatype*& old : made.types)
    old = datatype_from(reinterpret_cast<MPI_Datatype>(from.value<std::uintptr_t>()));
  TMPI_TRY(is_of_fortran(made.combiner) ? select_again(made, type)
                                        : construct_in_place(std::move(made), memory, type));
  if (from.value<bool>()) type->commit();
  const int handles = from.value<int>();
  for (int i = 1; i < handles; ++i) {
    type->add_handle();
    type->retain();
  }
  freed = handles == 0;
  type->set_name(from.text());
  take_attributes(from, current_rank(), type->attributes());
  return kOk;
}

}  // namespace tmpi::mpi
