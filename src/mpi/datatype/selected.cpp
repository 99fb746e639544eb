#include "mpi/datatype/selected.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "mpi/datatype/builder.hpp"

namespace tmpi::mpi {

namespace {

struct RealKind {
  int precision, range;  // decimal digits, decimal exponent
  MPI_Datatype real, complex;
};
constexpr int kRealKinds = 4;
// gfortran's real(4), real(8), real(10), real(16).
const RealKind kReals[kRealKinds] = {
    {6, 37, MPI_REAL4, MPI_COMPLEX8},
    {15, 307, MPI_REAL8, MPI_COMPLEX16},
    {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
    {33, 4931, MPI_REAL16, MPI_COMPLEX32},
};

struct IntegerKind {
  int range;
  MPI_Datatype type;
};
const IntegerKind kIntegers[] = {
    {2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}, {38, MPI_INTEGER16},
};

// One type for each set of arguments, made when it is first asked for; one of each rank's where its handle has to be. The lock is held for a look-up only,
// never across a scheduling point.
Datatype* unnamed(int combiner, int p, int r, MPI_Datatype like) {
  static std::mutex mutex;
  using Key = std::tuple<const HandleMemory*, int, int, int>;
  static auto* const types = new std::map<Key, Datatype*>;  // ranks may hold them at exit
  const std::lock_guard lock(mutex);
  Datatype*& type = (*types)[{HandleMemory::of_calling_rank(), combiner, p, r}];
  if (type == nullptr) {
    Description description;
    description.combiner = combiner;
    description.integers =
        combiner == MPI_COMBINER_F90_INTEGER ? std::vector<int>{r} : std::vector<int>{p, r};
    type = DatatypeBuilder::unnamed(std::move(description), *datatype_from(like));
  }
  return type;
}

const RealKind* real_kind(int p, int r) noexcept {
  for (const RealKind& kind : kReals) {
    if (kind.precision >= p && kind.range >= r) return &kind;
  }
  return nullptr;
}

Err select_floating(int combiner, int p, int r, Datatype*& out) {
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
    return fail(MPI_ERR_ARG, "p and r are both MPI_UNDEFINED: one of them must say what is needed");
  // MPI_UNDEFINED is less than any digits or range.
  const RealKind* kind = real_kind(p, r);
  if (kind == nullptr)
    return fail(MPI_ERR_ARG,
                "no real kind has {} decimal digits and the range 10^{}; the largest has {} and 10^{}", p, r,
                kReals[kRealKinds - 1].precision, kReals[kRealKinds - 1].range);
  out = unnamed(combiner, p, r, combiner == MPI_COMBINER_F90_REAL ? kind->real : kind->complex);
  return kOk;
}

struct Sized {
  int typeclass;
  MPI_Datatype type;
};
const Sized kSized[] = {
    {MPI_TYPECLASS_INTEGER, MPI_INTEGER1},  {MPI_TYPECLASS_INTEGER, MPI_INTEGER2},
    {MPI_TYPECLASS_INTEGER, MPI_INTEGER4},  {MPI_TYPECLASS_INTEGER, MPI_INTEGER8},
    {MPI_TYPECLASS_INTEGER, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, MPI_REAL2},
    {MPI_TYPECLASS_REAL, MPI_REAL4},        {MPI_TYPECLASS_REAL, MPI_REAL8},
    {MPI_TYPECLASS_REAL, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX4},
    {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX8},  {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX16},
    {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL1},
    {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL2}, {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL4},
    {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL8}, {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL16},
};

struct ValueIndexRow {
  MPI_Datatype value, index, pair;
};
const ValueIndexRow kPairs[] = {
    {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
    {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
    {MPI_LONG, MPI_INT, MPI_LONG_INT},
    {MPI_INT, MPI_INT, MPI_2INT},
    {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
    {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
    {MPI_REAL, MPI_REAL, MPI_2REAL},
    {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
    {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
};

}  // namespace

Err select_real(int p, int r, Datatype*& out) {
  return select_floating(MPI_COMBINER_F90_REAL, p, r, out);
}

Err select_complex(int p, int r, Datatype*& out) {
  return select_floating(MPI_COMBINER_F90_COMPLEX, p, r, out);
}

Err select_integer(int r, Datatype*& out) {
  for (const IntegerKind& kind : kIntegers) {
    if (kind.range < r) continue;
    out = unnamed(MPI_COMBINER_F90_INTEGER, 0, r, kind.type);
    return kOk;
  }
  return fail(MPI_ERR_ARG, "no integer kind has the range 10^{}; the largest has 10^38", r);
}

Err match_size(int typeclass, int size, Datatype*& out) {
  bool known = false;
  for (const Sized& row : kSized) {
    known = known || row.typeclass == typeclass;
    Datatype* type = datatype_from(row.type);
    if (row.typeclass != typeclass || type == nullptr || type->size() != size) continue;
    out = type;
    return kOk;
  }
  if (!known)
    return fail(MPI_ERR_ARG,
                "typeclass is {}: it must be MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL or "
                "MPI_TYPECLASS_COMPLEX",
                typeclass);
  return fail(MPI_ERR_ARG, "no Fortran type of this class has {} bytes", size);
}

MPI_Datatype value_index_pair(const Datatype& value, const Datatype& index) noexcept {
  for (const ValueIndexRow& row : kPairs) {
    if (row.value == value.handle() && row.index == index.handle()) return row.pair;
  }
  return MPI_DATATYPE_NULL;
}

}  // namespace tmpi::mpi
