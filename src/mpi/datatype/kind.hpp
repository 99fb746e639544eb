// Kind and KindGroup: what an element of a predefined datatype is. The kind says which machine arithmetic an
// operator uses; the group is the MPI report's class of types (6.9.2), which decides whether an operator is
// defined on it at all.
#pragma once

namespace tmpi::mpi {

/// One per machine representation, so that MPI_LONG, MPI_INT64_T, MPI_AINT and MPI_INTEGER8 share their
/// loops.
enum class Kind : unsigned char {
  kNone,  ///< derived datatypes, and types without arithmetic (characters, MPI_PACKED)
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kInt128,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kUint128,
  kHalf,
  kFloat,
  kDouble,
  kLongDouble,
  kQuad,
  kHalfComplex,
  kFloatComplex,
  kDoubleComplex,
  kLongDoubleComplex,
  kQuadComplex,
  kFloatInt,
  kDoubleInt,
  kLongInt,
  kIntInt,
  kShortInt,
  kLongDoubleInt,
  kFloatFloat,
  kDoubleDouble,
};
inline constexpr int kKinds = static_cast<int>(Kind::kDoubleDouble) + 1;

/// The classes of types in the table of the MPI report, 6.9.2.
enum class KindGroup : unsigned char {
  kDerived,
  kCharacter,
  kPacked,
  kCInteger,
  kFortranInteger,
  kFloating,
  kLogical,
  kComplex,
  kByte,
  kMultiLanguage,
  kPair,
};
inline constexpr int kGroups = static_cast<int>(KindGroup::kPair) + 1;

}  // namespace tmpi::mpi
