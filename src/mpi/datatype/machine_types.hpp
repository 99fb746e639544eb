// The C++ types behind each Kind: what differs between compilers is here.
#pragma once

#include <cstdint>

namespace tmpi::mpi {

using Int128 = __int128;
using Uint128 = unsigned __int128;
using Quad = __float128;

using FloatComplex = _Complex float;
using DoubleComplex = _Complex double;
using LongDoubleComplex = _Complex long double;
using QuadComplex = _Complex float __attribute__((mode(TC)));

// Half precision: gcc 12 has it in C++ on every x86-64, clang from version 15. Without it MPI_REAL2 and
// MPI_COMPLEX4 are no datatypes.
#if defined(__clang__) && __clang_major__ < 15
#define TMPI_HAVE_HALF 0
#else
#define TMPI_HAVE_HALF 1
using Half = _Float16;

/// There is no _Complex _Float16 in C++: the same two numbers (arithmetic: op/arithmetic.hpp).
struct HalfComplex {
  Half re, im;
};
#endif

/// A value and its index, as MPI_MINLOC and MPI_MAXLOC use them (MPI report, 6.9.4).
template <class Value, class Index>
struct ValueIndex {
  Value value;
  Index index;
};

}  // namespace tmpi::mpi
