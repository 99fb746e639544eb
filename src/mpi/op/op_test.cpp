// Every predefined operator on every kind of element against a scalar reference; which types an operator
// accepts; user's operators.
#include "mpi/op/op.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/machine_types.hpp"
#include "mpi/op/loops.hpp"

using namespace tmpi::mpi;

namespace {

const Datatype& of(MPI_Datatype handle) {
  return *datatype_from(handle);
}

const std::vector<MPI_Op> kAllOps = {MPI_SUM,    MPI_MIN,    MPI_MAX,     MPI_PROD, MPI_BAND,
                                     MPI_BOR,    MPI_BXOR,   MPI_LAND,    MPI_LOR,  MPI_LXOR,
                                     MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};

/// The report's definition for integers, in 128 bits.
template <class T>
T integer_reference(MPI_Op op, T x, T y) {
  const auto a = static_cast<Uint128>(x), b = static_cast<Uint128>(y);
  if (op == MPI_SUM) return static_cast<T>(a + b);
  if (op == MPI_PROD) return static_cast<T>(a * b);
  if (op == MPI_MIN) return y < x ? y : x;
  if (op == MPI_MAX) return y > x ? y : x;
  if (op == MPI_BAND) return static_cast<T>(a & b);
  if (op == MPI_BOR) return static_cast<T>(a | b);
  if (op == MPI_BXOR) return static_cast<T>(a ^ b);
  if (op == MPI_LAND) return (x && y) ? 1 : 0;
  if (op == MPI_LOR) return (x || y) ? 1 : 0;
  if (op == MPI_LXOR) return (!x != !y) ? 1 : 0;
  if (op == MPI_REPLACE) return x;
  return y;
}
template <class T>
T floating_reference(MPI_Op op, T a, T b) {
  if (op == MPI_SUM) return static_cast<T>(a + b);
  if (op == MPI_PROD) return static_cast<T>(a * b);
  if (op == MPI_MIN) return b < a ? b : a;
  if (op == MPI_MAX) return b > a ? b : a;
  if (op == MPI_LXOR) return static_cast<T>((a == 0) != (b == 0) ? 1 : 0);
  return op == MPI_REPLACE ? a : b;
}

std::mt19937_64 random_bits(7);

template <class T>
T random_integer() {
  // Small values often, so that equal ones and zeros occur.
  const std::uint64_t bits = random_bits();
  if (bits % 3 == 0) return static_cast<T>(bits >> 40 & 1);
  return static_cast<T>(static_cast<Uint128>(random_bits()) << 64 | random_bits());
}
template <class T>
T random_floating() {
  return static_cast<T>(static_cast<int>(random_bits() % 2001) - 1000) / static_cast<T>(16);
}

template <class T, class Make, class Reference>
void check_type(MPI_Datatype handle, const std::vector<MPI_Op>& ops, Make make, Reference reference) {
  const Datatype& type = of(handle);
  CAPTURE(type.name());
  REQUIRE(type.extent() == sizeof(T));
  for (const MPI_Op handle_of_op : ops) {
    const Op& op = *op_from(handle_of_op);
    CAPTURE(reinterpret_cast<std::uintptr_t>(handle_of_op));
    REQUIRE(!check_op(op, type));
    for (const int count : {0, 1, 3, 64, 1001}) {
      std::vector<T> in(count), inout(count), expected(count);
      for (int i = 0; i < count; ++i) {
        in[i] = make();
        inout[i] = make();
        expected[i] = reference(handle_of_op, in[i], inout[i]);
      }
      reduce_local(op, in.data(), inout.data(), count, type);
      for (int i = 0; i < count; ++i) REQUIRE(inout[i] == expected[i]);
    }
  }
}

// MPI_LXOR is an extension.
const std::vector<MPI_Op> kFloating = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LXOR, MPI_REPLACE, MPI_NO_OP};
const std::vector<MPI_Op> kFortranInteger = {MPI_SUM, MPI_PROD, MPI_MIN,     MPI_MAX,  MPI_BAND,
                                             MPI_BOR, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};
const std::vector<MPI_Op> kCInteger = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,    MPI_BOR,
                                       MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE, MPI_NO_OP};
const std::vector<MPI_Op> kLogical = {MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE, MPI_NO_OP};

template <class T>
void check_integer(MPI_Datatype handle, const std::vector<MPI_Op>& ops) {
  check_type<T>(handle, ops, random_integer<T>, integer_reference<T>);
}
template <class T>
void check_floating(MPI_Datatype handle) {
  check_type<T>(handle, kFloating, random_floating<T>, floating_reference<T>);
}
template <class Complex, class Real>
void check_complex(MPI_Datatype handle) {
  const auto make = [] {
    Complex value;
    __real__ value = random_floating<Real>();
    __imag__ value = random_floating<Real>();
    return value;
  };
  const auto reference = [](MPI_Op op, Complex a, Complex b) {
    Complex value = op == MPI_REPLACE ? a : b;
    const Real ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
    if (op == MPI_SUM) {
      __real__ value = ar + br;
      __imag__ value = ai + bi;
    } else if (op == MPI_PROD) {
      __real__ value = ar * br - ai * bi;
      __imag__ value = ar * bi + ai * br;
    }
    return value;
  };
  check_type<Complex>(handle, {MPI_SUM, MPI_PROD, MPI_REPLACE, MPI_NO_OP}, make, reference);
}

template <class Value, class Index>
struct Located {
  Value value;
  Index index;
  bool operator==(const Located&) const = default;
};
template <class Value, class Index>
void check_pair(MPI_Datatype handle) {
  using Pair = Located<Value, Index>;
  const auto make = [] {
    return Pair{static_cast<Value>(static_cast<int>(random_bits() % 7) - 3),
                static_cast<Index>(random_bits() % 5)};
  };
  const auto reference = [](MPI_Op op, Pair a, Pair b) {
    if (op == MPI_REPLACE) return a;
    if (op == MPI_NO_OP) return b;
    if (a.value == b.value) return Pair{a.value, a.index < b.index ? a.index : b.index};
    return (a.value > b.value) == (op == MPI_MAXLOC) ? a : b;
  };
  check_type<Pair>(handle, {MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP}, make, reference);
}

}  // namespace

TEST_CASE("integers") {
  check_integer<signed char>(MPI_CHAR, kCInteger);  // an extension
  check_integer<short>(MPI_SHORT, kCInteger);
  check_integer<int>(MPI_INT, kCInteger);
  check_integer<long>(MPI_LONG, kCInteger);
  check_integer<long long>(MPI_LONG_LONG, kCInteger);
  check_integer<unsigned short>(MPI_UNSIGNED_SHORT, kCInteger);
  check_integer<unsigned>(MPI_UNSIGNED, kCInteger);
  check_integer<unsigned long>(MPI_UNSIGNED_LONG, kCInteger);
  check_integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG, kCInteger);
  check_integer<signed char>(MPI_SIGNED_CHAR, kCInteger);
  check_integer<unsigned char>(MPI_UNSIGNED_CHAR, kCInteger);
  check_integer<std::int8_t>(MPI_INT8_T, kCInteger);
  check_integer<std::int16_t>(MPI_INT16_T, kCInteger);
  check_integer<std::int32_t>(MPI_INT32_T, kCInteger);
  check_integer<std::int64_t>(MPI_INT64_T, kCInteger);
  check_integer<std::uint8_t>(MPI_UINT8_T, kCInteger);
  check_integer<std::uint16_t>(MPI_UINT16_T, kCInteger);
  check_integer<std::uint32_t>(MPI_UINT32_T, kCInteger);
  check_integer<std::uint64_t>(MPI_UINT64_T, kCInteger);
  check_integer<std::int32_t>(MPI_INTEGER, kFortranInteger);
  check_integer<std::int8_t>(MPI_INTEGER1, kFortranInteger);
  check_integer<std::int16_t>(MPI_INTEGER2, kFortranInteger);
  check_integer<std::int32_t>(MPI_INTEGER4, kFortranInteger);
  check_integer<std::int64_t>(MPI_INTEGER8, kFortranInteger);
  check_integer<Int128>(MPI_INTEGER16, kFortranInteger);
  // Logical operators are an extension.
  check_integer<MPI_Aint>(MPI_AINT, kCInteger);
  check_integer<MPI_Offset>(MPI_OFFSET, kCInteger);
  check_integer<MPI_Count>(MPI_COUNT, kCInteger);
  check_integer<unsigned char>(MPI_BYTE, {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE, MPI_NO_OP});
}

TEST_CASE("logicals: any value but 0 is true, results are 1") {
  check_integer<std::uint8_t>(MPI_C_BOOL, kLogical);
  check_integer<std::uint8_t>(MPI_CXX_BOOL, kLogical);
  check_integer<std::uint32_t>(MPI_LOGICAL, kLogical);
  check_integer<std::uint8_t>(MPI_LOGICAL1, kLogical);
  check_integer<std::uint16_t>(MPI_LOGICAL2, kLogical);
  check_integer<std::uint32_t>(MPI_LOGICAL4, kLogical);
  check_integer<std::uint64_t>(MPI_LOGICAL8, kLogical);
  check_integer<Uint128>(MPI_LOGICAL16, kLogical);
}

TEST_CASE("floating point") {
  check_floating<float>(MPI_FLOAT);
  check_floating<double>(MPI_DOUBLE);
  check_floating<long double>(MPI_LONG_DOUBLE);
  check_floating<float>(MPI_REAL);
  check_floating<double>(MPI_DOUBLE_PRECISION);
  check_floating<float>(MPI_REAL4);
  check_floating<double>(MPI_REAL8);
  check_floating<Quad>(MPI_REAL16);
#if TMPI_HAVE_HALF
  check_floating<Half>(MPI_REAL2);
#endif
}

TEST_CASE("complex") {
  check_complex<FloatComplex, float>(MPI_C_FLOAT_COMPLEX);
  check_complex<DoubleComplex, double>(MPI_C_DOUBLE_COMPLEX);
  check_complex<LongDoubleComplex, long double>(MPI_C_LONG_DOUBLE_COMPLEX);
  check_complex<FloatComplex, float>(MPI_CXX_FLOAT_COMPLEX);
  check_complex<DoubleComplex, double>(MPI_CXX_DOUBLE_COMPLEX);
  check_complex<LongDoubleComplex, long double>(MPI_CXX_LONG_DOUBLE_COMPLEX);
  check_complex<FloatComplex, float>(MPI_COMPLEX);
  check_complex<DoubleComplex, double>(MPI_DOUBLE_COMPLEX);
  check_complex<FloatComplex, float>(MPI_COMPLEX8);
  check_complex<DoubleComplex, double>(MPI_COMPLEX16);
  check_complex<QuadComplex, Quad>(MPI_COMPLEX32);
#if TMPI_HAVE_HALF
  HalfComplex a{static_cast<Half>(1.5f), static_cast<Half>(2)},
      b{static_cast<Half>(3), static_cast<Half>(-1)};
  reduce_local(*op_from(MPI_PROD), &a, &b, 1, of(MPI_COMPLEX4));
  CHECK(static_cast<float>(b.re) == 6.5f);
  CHECK(static_cast<float>(b.im) == 4.5f);
#endif
}

TEST_CASE("pairs") {
  check_pair<float, int>(MPI_FLOAT_INT);
  check_pair<double, int>(MPI_DOUBLE_INT);
  check_pair<long, int>(MPI_LONG_INT);
  check_pair<int, int>(MPI_2INT);
  check_pair<short, int>(MPI_SHORT_INT);
  check_pair<long double, int>(MPI_LONG_DOUBLE_INT);
  check_pair<float, float>(MPI_2REAL);
  check_pair<double, double>(MPI_2DOUBLE_PRECISION);
  check_pair<int, int>(MPI_2INTEGER);
}

TEST_CASE("an operator accepts a type exactly if it has a loop for it or moves bytes only") {
  int accepted = 0;
  for (const MPI_Op handle : kAllOps) {
    const Op& op = *op_from(handle);
    CHECK(op.predefined());
    CHECK(handle_of(op) == handle);
    for (std::uintptr_t value = kPredefinedBase; value < kPredefinedBase + kPredefinedSlots; ++value) {
      const Datatype* type = datatype_from(reinterpret_cast<MPI_Datatype>(value));
      if (type == nullptr || check_op(op, *type)) continue;
      CAPTURE(type->name());
      ++accepted;
      const bool moves = handle == MPI_REPLACE || handle == MPI_NO_OP;
      const bool loop =
          loop_table().loops[static_cast<int>(op.which)][static_cast<int>(type->kind())] != nullptr;
      CHECK((moves || loop));
    }
  }
  CHECK(accepted > 300);
  take_explanation();
}

TEST_CASE("what is accepted beyond the report is known") {
  const auto beyond = [](MPI_Op op, MPI_Datatype type) {
    CHECK(!check_op(*op_from(op), of(type)));
    return beyond_the_report(*op_from(op), of(type));
  };
  for (const MPI_Datatype type : {MPI_AINT, MPI_OFFSET, MPI_COUNT}) {
    CHECK(beyond(MPI_LAND, type));
    CHECK(beyond(MPI_LOR, type));
    CHECK(beyond(MPI_LXOR, type));
    CHECK_FALSE(beyond(MPI_BXOR, type));
  }
  CHECK(beyond(MPI_LXOR, MPI_DOUBLE));
  CHECK(beyond(MPI_SUM, MPI_CHAR));
  CHECK_FALSE(beyond(MPI_SUM, MPI_SIGNED_CHAR));
  CHECK_FALSE(beyond(MPI_REPLACE, MPI_CHAR));
  CHECK_FALSE(beyond(MPI_LXOR, MPI_INT));
  CHECK_FALSE(beyond(MPI_MINLOC, MPI_2INT));
}

TEST_CASE("the instruction sets agree bit for bit") {
#if TMPI_LOOPS_AVX2
  if (!__builtin_cpu_supports("avx2")) return;
  for (int op = 0; op < kOperators; ++op) {
    for (int kind = 0; kind < kKinds; ++kind) {
      const ReduceLoop one = kLoopsBaseline.loops[op][kind], two = kLoopsAvx2.loops[op][kind];
      REQUIRE((one == nullptr) == (two == nullptr));
      if (one == nullptr) continue;
      alignas(64) unsigned char in[4096], first[4096], second[4096];
      // Bytes that are small numbers as integers and ordinary ones as floating point of every width.
      for (int i = 0; i < 4096; ++i) {
        in[i] = i % 2 == 1 ? static_cast<unsigned char>(0x3c + random_bits() % 4)
                           : static_cast<unsigned char>(random_bits());
        first[i] = i % 2 == 1 ? static_cast<unsigned char>(0x3c + random_bits() % 4)
                              : static_cast<unsigned char>(random_bits());
      }
      std::memcpy(second, first, sizeof first);
      one(in, first, 64);
      two(in, second, 64);
      CHECK(std::memcmp(first, second, sizeof first) == 0);
    }
  }
#endif
}

TEST_CASE("refusals name what the operator accepts") {
  CHECK(check_op(*op_from(MPI_SUM), of(MPI_BYTE)).error_class() == MPI_ERR_OP);
  CHECK(take_explanation() ==
        "MPI_SUM is not defined on MPI_BYTE; it accepts C and Fortran integer, floating point and complex "
        "types, MPI_AINT, "
        "MPI_OFFSET and MPI_COUNT");
  CHECK(check_op(*op_from(MPI_BAND), of(MPI_DOUBLE)).error_class() == MPI_ERR_OP);
  CHECK(check_op(*op_from(MPI_LAND), of(MPI_FLOAT)).error_class() == MPI_ERR_OP);
  CHECK(check_op(*op_from(MPI_LAND), of(MPI_INTEGER)).error_class() == MPI_ERR_OP);
  CHECK(check_op(*op_from(MPI_MAX), of(MPI_C_DOUBLE_COMPLEX)).error_class() == MPI_ERR_OP);
  CHECK(check_op(*op_from(MPI_MAXLOC), of(MPI_INT)).error_class() == MPI_ERR_OP);
  CHECK(check_op(*op_from(MPI_MAX), of(MPI_WCHAR)).error_class() == MPI_ERR_OP);
  CHECK(check_op(*op_from(MPI_SUM), of(MPI_PACKED)).error_class() == MPI_ERR_OP);
  Datatype* derived = nullptr;
  REQUIRE(!construct_contiguous<int>(2, of(MPI_INT), derived));
  CHECK(check_op(*op_from(MPI_SUM), *derived).error_class() == MPI_ERR_OP);
  CHECK(take_explanation().find("MPI_Op_create") != std::string::npos);
  derived->release();
  CHECK(op_from(MPI_OP_NULL) == nullptr);
  CHECK(op_from(reinterpret_cast<MPI_Op>(0x3f)) == nullptr);
}

namespace {

MPI_Datatype seen_handle;
int seen_calls;
MPI_Count seen_length;

/// Composition of affine maps: associative, not commutative.
void compose(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  auto* a = static_cast<long*>(in);
  auto* b = static_cast<long*>(inout);
  for (int i = 0; i < 2 * *length; i += 2) {
    b[i + 1] += b[i] * a[i + 1];
    b[i] *= a[i];
  }
  seen_handle = *datatype;
}
void count_only(void*, void*, int* length, MPI_Datatype*) {
  ++seen_calls;
  seen_length += *length;
}
void count_large(void*, void*, MPI_Count* length, MPI_Datatype*) {
  ++seen_calls;
  seen_length += *length;
}

}  // namespace

TEST_CASE("user-defined operators see the handle of the call") {
  Datatype* map = nullptr;
  REQUIRE(!construct_contiguous<int>(2, of(MPI_LONG), map));
  Op* op = create_op(compose, nullptr, false);
  CHECK_FALSE(op->commutative);
  CHECK(op_from(handle_of(*op)) == op);
  CHECK(!check_op(*op, *map));
  long a[] = {2, 1, 3, 0}, b[] = {5, 7, 1, 4};
  reduce_local(*op, a, b, 2, *map);
  CHECK(b[0] == 10);
  CHECK(b[1] == 12);
  CHECK(b[3] == 4);
  CHECK(seen_handle == handle_of(*map));
  op->release();
  map->release();
}

TEST_CASE("a user's function with an int length gets long vectors in pieces") {
  Op* op = create_op(count_only, nullptr, true);
  reduce_local(*op, nullptr, nullptr, 5LL << 30, of(MPI_BYTE));
  CHECK(seen_calls == 3);
  CHECK(seen_length == 5LL << 30);
  op->release();
  seen_calls = 0;
  seen_length = 0;
  Op* large = create_op(nullptr, count_large, true);
  reduce_local(*large, nullptr, nullptr, 5LL << 30, of(MPI_BYTE));
  CHECK(seen_calls == 1);
  CHECK(seen_length == 5LL << 30);
  large->release();
}
