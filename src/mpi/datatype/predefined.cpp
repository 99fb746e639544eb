// The predefined datatypes of the ABI, one row each (MPI report, 3.2.2, 6.9.2, 6.9.4, 19.1.9; sizes of x86-64
// with gcc and gfortran). A type that the compiler lacks has no row, and its handle is then no datatype.
#include <cstddef>
#include <cwchar>

#include "mpi/datatype/builder.hpp"
#include "mpi/datatype/machine_types.hpp"

namespace tmpi::mpi {

Datatype* predefined_types[kPredefinedSlots];
Scalar predefined_scalars[kPredefinedSlots];

namespace {

using Row = DatatypeBuilder::Predefined;

template <class T>
Row scalar(const char* name, MPI_Datatype handle, Kind kind, KindGroup group) {
  return {name, handle, kind, group, alignof(T), {{0, sizeof(T)}}};
}

template <class Value, class Index>
Row pair(const char* name, MPI_Datatype handle, Kind kind) {
  using Pair = ValueIndex<Value, Index>;
  return {name,          handle,
          kind,          KindGroup::kPair,
          alignof(Pair), {{offsetof(Pair, value), sizeof(Value)}, {offsetof(Pair, index), sizeof(Index)}}};
}

#define SCALAR(handle, type, kind, group) scalar<type>(#handle, handle, Kind::kind, KindGroup::group)
#define PAIR(handle, value, index, kind) pair<value, index>(#handle, handle, Kind::kind)

// clang-format off: a table
std::vector<Row> rows() {
  return {
    SCALAR(MPI_AINT, MPI_Aint, kInt64, kMultiLanguage), SCALAR(MPI_COUNT, MPI_Count, kInt64, kMultiLanguage),
        SCALAR(MPI_OFFSET, MPI_Offset, kInt64, kMultiLanguage), SCALAR(MPI_PACKED, char, kNone, kPacked),
        SCALAR(MPI_BYTE, unsigned char, kUint8, kByte),

        // C
        // The report has no reductions on MPI_CHAR (printable characters); every common MPI takes it for a
        // small integer, and programs rely on it.
        SCALAR(MPI_CHAR, char, kInt8, kCInteger), SCALAR(MPI_WCHAR, wchar_t, kNone, kCharacter),
        SCALAR(MPI_SHORT, short, kInt16, kCInteger), SCALAR(MPI_INT, int, kInt32, kCInteger),
        SCALAR(MPI_LONG, long, kInt64, kCInteger), SCALAR(MPI_LONG_LONG_INT, long long, kInt64, kCInteger),
        SCALAR(MPI_UNSIGNED_SHORT, unsigned short, kUint16, kCInteger),
        SCALAR(MPI_UNSIGNED, unsigned, kUint32, kCInteger),
        SCALAR(MPI_UNSIGNED_LONG, unsigned long, kUint64, kCInteger),
        SCALAR(MPI_UNSIGNED_LONG_LONG, unsigned long long, kUint64, kCInteger),
        SCALAR(MPI_SIGNED_CHAR, signed char, kInt8, kCInteger),
        SCALAR(MPI_UNSIGNED_CHAR, unsigned char, kUint8, kCInteger),
        SCALAR(MPI_INT8_T, std::int8_t, kInt8, kCInteger),
        SCALAR(MPI_INT16_T, std::int16_t, kInt16, kCInteger),
        SCALAR(MPI_INT32_T, std::int32_t, kInt32, kCInteger),
        SCALAR(MPI_INT64_T, std::int64_t, kInt64, kCInteger),
        SCALAR(MPI_UINT8_T, std::uint8_t, kUint8, kCInteger),
        SCALAR(MPI_UINT16_T, std::uint16_t, kUint16, kCInteger),
        SCALAR(MPI_UINT32_T, std::uint32_t, kUint32, kCInteger),
        SCALAR(MPI_UINT64_T, std::uint64_t, kUint64, kCInteger), SCALAR(MPI_FLOAT, float, kFloat, kFloating),
        SCALAR(MPI_DOUBLE, double, kDouble, kFloating),
        SCALAR(MPI_LONG_DOUBLE, long double, kLongDouble, kFloating),
        SCALAR(MPI_C_BOOL, bool, kUint8, kLogical),
        SCALAR(MPI_C_COMPLEX, FloatComplex, kFloatComplex, kComplex),
        SCALAR(MPI_C_DOUBLE_COMPLEX, DoubleComplex, kDoubleComplex, kComplex),
        SCALAR(MPI_C_LONG_DOUBLE_COMPLEX, LongDoubleComplex, kLongDoubleComplex, kComplex),
        PAIR(MPI_FLOAT_INT, float, int, kFloatInt), PAIR(MPI_DOUBLE_INT, double, int, kDoubleInt),
        PAIR(MPI_LONG_INT, long, int, kLongInt), PAIR(MPI_2INT, int, int, kIntInt),
        PAIR(MPI_SHORT_INT, short, int, kShortInt),
        PAIR(MPI_LONG_DOUBLE_INT, long double, int, kLongDoubleInt),

        // C++
        SCALAR(MPI_CXX_BOOL, bool, kUint8, kLogical),
        SCALAR(MPI_CXX_FLOAT_COMPLEX, FloatComplex, kFloatComplex, kComplex),
        SCALAR(MPI_CXX_DOUBLE_COMPLEX, DoubleComplex, kDoubleComplex, kComplex),
        SCALAR(MPI_CXX_LONG_DOUBLE_COMPLEX, LongDoubleComplex, kLongDoubleComplex, kComplex),

        // Fortran
        SCALAR(MPI_CHARACTER, char, kNone, kCharacter), SCALAR(MPI_LOGICAL, std::uint32_t, kUint32, kLogical),
        SCALAR(MPI_INTEGER, std::int32_t, kInt32, kFortranInteger),
        SCALAR(MPI_REAL, float, kFloat, kFloating), SCALAR(MPI_DOUBLE_PRECISION, double, kDouble, kFloating),
        SCALAR(MPI_COMPLEX, FloatComplex, kFloatComplex, kComplex),
        SCALAR(MPI_DOUBLE_COMPLEX, DoubleComplex, kDoubleComplex, kComplex),
        PAIR(MPI_2REAL, float, float, kFloatFloat),
        PAIR(MPI_2DOUBLE_PRECISION, double, double, kDoubleDouble),
        PAIR(MPI_2INTEGER, std::int32_t, std::int32_t, kIntInt),
        SCALAR(MPI_LOGICAL1, std::uint8_t, kUint8, kLogical),
        SCALAR(MPI_LOGICAL2, std::uint16_t, kUint16, kLogical),
        SCALAR(MPI_LOGICAL4, std::uint32_t, kUint32, kLogical),
        SCALAR(MPI_LOGICAL8, std::uint64_t, kUint64, kLogical),
        SCALAR(MPI_LOGICAL16, Uint128, kUint128, kLogical),
        SCALAR(MPI_INTEGER1, std::int8_t, kInt8, kFortranInteger),
        SCALAR(MPI_INTEGER2, std::int16_t, kInt16, kFortranInteger),
        SCALAR(MPI_INTEGER4, std::int32_t, kInt32, kFortranInteger),
        SCALAR(MPI_INTEGER8, std::int64_t, kInt64, kFortranInteger),
        SCALAR(MPI_INTEGER16, Int128, kInt128, kFortranInteger), SCALAR(MPI_REAL4, float, kFloat, kFloating),
        SCALAR(MPI_REAL8, double, kDouble, kFloating), SCALAR(MPI_REAL16, Quad, kQuad, kFloating),
        SCALAR(MPI_COMPLEX8, FloatComplex, kFloatComplex, kComplex),
        SCALAR(MPI_COMPLEX16, DoubleComplex, kDoubleComplex, kComplex),
        SCALAR(MPI_COMPLEX32, QuadComplex, kQuadComplex, kComplex),
#if TMPI_HAVE_HALF
        SCALAR(MPI_REAL2, Half, kHalf, kFloating), SCALAR(MPI_COMPLEX4, HalfComplex, kHalfComplex, kComplex),
#endif
  };
}
// clang-format on

#undef SCALAR
#undef PAIR

Scalar::Sum sum_of(const Datatype& type) {
  const KindGroup group = type.group();
  if (group == KindGroup::kCInteger || group == KindGroup::kFortranInteger ||
      group == KindGroup::kMultiLanguage)
    return Scalar::Sum::kInteger;
  const bool real = type.kind() == Kind::kFloat || type.kind() == Kind::kDouble;
  return real ? Scalar::Sum::kFloating : Scalar::Sum::kOther;
}

// Built when the library is loaded, before any rank runs; never destroyed, since ranks may still hold types
// at exit.
bool fill_table() {
  for (const Row& row : rows()) {
    const std::uintptr_t slot = reinterpret_cast<std::uintptr_t>(row.handle) - kPredefinedBase;
    Datatype* const type = predefined_types[slot] = DatatypeBuilder::predefined(row);
    if (!type->contiguous() || type->size() > 8) continue;
    predefined_scalars[slot] = {.size = static_cast<std::uint8_t>(type->size()),
                                .sum = sum_of(*type),
                                .compares = comparable(type->group())};
  }
  return true;
}
[[maybe_unused]] const bool filled = fill_table();

}  // namespace

}  // namespace tmpi::mpi
