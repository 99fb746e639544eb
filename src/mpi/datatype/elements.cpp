// Basic elements of a stream, for MPI_Get_elements and MPI_Status_set_elements (MPI report, 5.1.11).
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/description.hpp"

namespace tmpi::mpi {

namespace {

/// A place in the stream of `type`: `rest` more of what is measured (bytes or elements), after `passed` of
/// the other measure.
struct Position {
  const Datatype* type;
  MPI_Count rest;
  MPI_Count passed;
};

using Measure = MPI_Count (Datatype::*)() const noexcept;

/// Goes one level down: skips whole blocks of the description and whole elements of the block's type.
/// `at.rest` is not 0 and less than the type holds.
void descend(Position& at, Measure measure, Measure other) noexcept {
  const Description& description = at.type->description();
  const bool one_type = description.blocklengths.empty();  // repeated as often as the size says
  std::size_t block = 0;
  if (!one_type) {
    for (; at.rest >= description.blocklengths[block] * (description.types[block]->*measure)(); ++block) {
      at.rest -= description.blocklengths[block] * (description.types[block]->*measure)();
      at.passed += description.blocklengths[block] * (description.types[block]->*other)();
    }
  }
  at.type = description.types[block];
  const MPI_Count unit = (at.type->*measure)();
  at.passed += at.rest / unit * (at.type->*other)();
  at.rest %= unit;
}

/// Bytes of the first element of a pair type; the second one is an int, or like the first.
MPI_Count first_of_pair(const Datatype& type) noexcept {
  const bool alike = type.kind() == Kind::kFloatFloat || type.kind() == Kind::kDoubleDouble;
  return alike ? type.size() / 2 : type.size() - static_cast<MPI_Count>(sizeof(int));
}

}  // namespace

MPI_Count element_count(const Datatype& type, MPI_Count bytes) {
  if (type.size() == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  Position at{&type, bytes % type.size(), bytes / type.size() * type.elements()};
  while (at.rest != 0 && !at.type->predefined()) descend(at, &Datatype::size, &Datatype::elements);
  if (at.rest == 0) return at.passed;
  const bool whole = at.type->group() == KindGroup::kPair && at.rest == first_of_pair(*at.type);
  return whole ? at.passed + 1 : MPI_UNDEFINED;
}

MPI_Count element_bytes(const Datatype& type, MPI_Count count) {
  if (type.elements() == 0) return 0;
  Position at{&type, count % type.elements(), count / type.elements() * type.size()};
  while (at.rest != 0 && !at.type->predefined()) descend(at, &Datatype::elements, &Datatype::size);
  return at.rest == 0 ? at.passed : at.passed + first_of_pair(*at.type);
}

}  // namespace tmpi::mpi
