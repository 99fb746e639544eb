// The arithmetic of one element for each predefined operator. Everything has internal linkage: this header is
// compiled once per instruction set, and no function built for a newer processor may stand in for the
// baseline's.
#pragma once

#include <cstdint>
#include <type_traits>

#include "mpi/datatype/machine_types.hpp"

namespace tmpi::mpi {
namespace {

/// Unsigned integer in which T's sums and products wrap around, as wide as int at least (a product of two
/// unsigned shorts in int could overflow).
template <class T>
using Wrapping = std::conditional_t<sizeof(T) <= 4, std::uint32_t,
                                    std::conditional_t<sizeof(T) == 8, std::uint64_t, Uint128>>;

template <class T>
inline constexpr bool kInteger =
    std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, Uint128>;

#if TMPI_HAVE_HALF
inline HalfComplex operator+(HalfComplex a, HalfComplex b) {
  return {static_cast<Half>(a.re + b.re), static_cast<Half>(a.im + b.im)};
}
/// In single precision, rounded once.
inline HalfComplex operator*(HalfComplex a, HalfComplex b) {
  const float ar = a.re, ai = a.im, br = b.re, bi = b.im;
  return {static_cast<Half>(ar * br - ai * bi), static_cast<Half>(ar * bi + ai * br)};
}
#endif

struct Sum {
  template <class T>
  static T of(T a, T b) {
    if constexpr (kInteger<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return static_cast<T>(a + b);
  }
};
struct Prod {
  template <class T>
  static T of(T a, T b) {
    if constexpr (kInteger<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else
      return static_cast<T>(a * b);
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
struct Band {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Bor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Bxor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
// True is 1, in C as for gfortran; any other value than 0 counts as true. Bit operators, since they are
// vectorised. MPI_LXOR is there for floating point, too.
struct Land {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<T>(a != 0) & static_cast<T>(b != 0));
  }
};
struct Lor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a | b) != 0);
  }
};
struct Lxor {
  template <class T>
  static T of(T a, T b) {
    if constexpr (kInteger<T>)
      return static_cast<T>(static_cast<T>(a != 0) ^ static_cast<T>(b != 0));
    else
      return static_cast<T>((a != 0) != (b != 0));
  }
};

/// MPI_MINLOC, MPI_MAXLOC: the better value with its index; of equal values the smaller index (MPI
/// report, 6.9.4).
template <bool kMaximum>
struct Location {
  template <class Pair>
  static Pair of(Pair a, Pair b) {
    const bool better = kMaximum ? a.value > b.value : a.value < b.value;
    const bool take = better || (a.value == b.value && a.index < b.index);
    return {take ? a.value : b.value, take ? a.index : b.index};
  }
};
using Minloc = Location<false>;
using Maxloc = Location<true>;

template <class T>
void store(T& to, const T& value) {
  to = value;
}
/// Field by field: the padding of the user's pair is not ours.
template <class Value, class Index>
void store(ValueIndex<Value, Index>& to, const ValueIndex<Value, Index>& value) {
  to.value = value.value;
  to.index = value.index;
}

template <class Operation, class T>
void loop(const void* in, void* inout, long count) {
  const T* __restrict a = static_cast<const T*>(in);
  T* __restrict b = static_cast<T*>(inout);
  for (long i = 0; i < count; ++i) store(b[i], Operation::template of<T>(a[i], b[i]));
}

}  // namespace
}  // namespace tmpi::mpi
