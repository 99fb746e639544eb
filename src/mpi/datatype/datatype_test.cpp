// Datatypes one by one: the predefined table, the report's examples, normal forms, lifetime, large counts,
// errors.
#include "mpi/datatype/datatype.hpp"
#include "mpi/base/handles.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <memory>
#include <vector>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/description.hpp"
#include "mpi/datatype/layout.hpp"
#include "mpi/datatype/names.hpp"

using namespace tmpi::mpi;

namespace {

struct Release {
  void operator()(Datatype* type) const { type->release(); }
};
using Owned = std::unique_ptr<Datatype, Release>;

const Datatype& of(MPI_Datatype handle) {
  return *datatype_from(handle);
}

template <class F, class... Args>
Owned made(F construct, Args... args) {
  Datatype* type = nullptr;
  REQUIRE(!construct(args..., type));
  return Owned(type);
}

Owned contiguous(MPI_Count count, const Datatype& old) {
  return made([](auto n, auto* o, Datatype*& out) { return construct_contiguous<MPI_Count>(n, *o, out); },
              count, &old);
}
Owned vector(MPI_Count count, MPI_Count length, MPI_Count stride, const Datatype& old) {
  return made([](auto n, auto l, auto s, auto* o,
                 Datatype*& out) { return construct_vector<MPI_Count>(n, l, s, *o, out); },
              count, length, stride, &old);
}
Owned resized(const Datatype& old, MPI_Count lb, MPI_Count extent) {
  return made([](auto* o, auto l, auto e, Datatype*& out) { return construct_resized(*o, l, e, false, out); },
              &old, lb, extent);
}
Owned structure(std::vector<int> lengths, std::vector<MPI_Aint> displacements,
                std::vector<MPI_Datatype> types) {
  Datatype* type = nullptr;
  REQUIRE(!construct_struct<int>(static_cast<int>(lengths.size()), lengths.data(), displacements.data(),
                                 types.data(), type));
  return Owned(type);
}

}  // namespace

TEST_CASE("the predefined table") {
  int found = 0;
  for (std::uintptr_t value = 0; value < kPredefinedHandles; ++value) {
    const auto handle = reinterpret_cast<MPI_Datatype>(value);
    const Datatype* type = datatype_from(handle);
    if (type == nullptr) continue;
    ++found;
    CAPTURE(type->name());
    CHECK(type->predefined());
    CHECK(type->committed());
    CHECK(handle_of(*type) == handle);
    CHECK(type->size() > 0);
    CHECK(type->extent() % type->alignment() == 0);
    CHECK(type->description().combiner == MPI_COMBINER_NAMED);
    CHECK(type->contiguous() == (type->size() == type->extent()));
  }
  CHECK(found == 70);
  CHECK(datatype_from(MPI_DATATYPE_NULL) == nullptr);
  CHECK(of(MPI_LONG_LONG).name() == "MPI_LONG_LONG_INT");
  CHECK(of(MPI_LONG_DOUBLE_INT).size() == 20);
  CHECK(of(MPI_LONG_DOUBLE_INT).extent() == 32);
  CHECK(of(MPI_DOUBLE_INT).size() == 12);
  CHECK(of(MPI_DOUBLE_INT).extent() == 16);
  CHECK(of(MPI_SHORT_INT).size() == 6);
  CHECK(of(MPI_SHORT_INT).extent() == 8);
  CHECK(of(MPI_COMPLEX32).size() == 32);
  CHECK(of(MPI_REAL16).alignment() == 16);
}

TEST_CASE("examples of the MPI report, 5.1") {
  // {(double, 0), (char, 8)} has extent 16 (Example 5.1), twice that for two of them (Example 5.2).
  const Owned base = structure({1, 1}, {0, 8}, {MPI_DOUBLE, MPI_CHAR});
  CHECK(base->size() == 9);
  CHECK(base->extent() == 16);
  CHECK(contiguous(2, *base)->extent() == 32);
  // Markers: {(lb, -3), (int, 0), (ub, 6)} has extent 9, two of them 18 (5.1.6).
  const Owned marked = resized(of(MPI_INT), -3, 9);
  const Owned two = contiguous(2, *marked);
  CHECK(two->lb() == -3);
  CHECK(two->extent() == 18);
  CHECK(two->true_lb() == 0);
  CHECK(two->true_extent() == 13);
  // Explicit bounds hide those of the data.
  const Owned mixed = structure({1, 1}, {0, 100}, {handle_of(*marked), MPI_CHAR});
  CHECK(mixed->lb() == -3);
  CHECK(mixed->extent() == 9);
  CHECK(mixed->true_extent() == 101);
}

TEST_CASE("normal forms") {
  SUBCASE("a struct without gaps is one run") {
    const Owned type = structure({2, 1, 1}, {0, 8, 16}, {MPI_INT, MPI_DOUBLE, MPI_DOUBLE});
    CHECK(type->contiguous());
  }
  SUBCASE("a vector whose blocks touch is one run") {
    CHECK(vector(10, 3, 3, of(MPI_INT))->contiguous());
    CHECK_FALSE(vector(10, 3, 3, of(MPI_INT))->scattered());
    CHECK(vector(10, 1, 3, of(MPI_INT))->scattered());
    CHECK(vector(10, 3, 7, of(MPI_DOUBLE))->scattered());
    CHECK_FALSE(vector(10, 100, 200, of(MPI_DOUBLE))->scattered());
  }
  SUBCASE("a vector is one loop of blocks, whatever its count") {
    const Owned type = vector(1000000000, 1, 2, of(MPI_DOUBLE));
    const Node& root = type->layout().root();
    CHECK(root.form == Node::Form::kBlocks);
    CHECK(root.depth == 1);
  }
  SUBCASE("a vector of vectors with the same stride is one loop") {
    const Owned column = vector(10, 1, 4, of(MPI_DOUBLE));
    const Owned padded = resized(*column, 0, 10 * 4 * 8);
    const Owned five = contiguous(5, *padded);
    CHECK(five->layout().root().form == Node::Form::kBlocks);
    CHECK(five->layout().root().count == 50);
  }
  SUBCASE("equally spaced indexed blocks are one loop") {
    Datatype* type = nullptr;
    const std::vector<int> displacements{3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33};
    REQUIRE(!construct_indexed_block<int>(11, 2, displacements.data(), of(MPI_INT), type));
    const Owned owned(type);
    CHECK(type->layout().root().form == Node::Form::kBlocks);
    CHECK(type->layout().root().offset == 12);
  }
  SUBCASE("single_run") {
    char buffer[100];
    const Owned shifted = structure({4}, {16}, {MPI_INT});
    CHECK(single_run(buffer, 1, *shifted) == buffer + 16);
    CHECK(single_run(buffer, 2, *shifted) == buffer + 16);
    CHECK(single_run(buffer, 2, of(MPI_DOUBLE_INT)) == nullptr);
    CHECK(single_run(buffer, 0, of(MPI_INT)) == nullptr);
  }
}

TEST_CASE("lifetime: parts live as long as what is built from them") {
  Datatype* outer = nullptr;
  {
    const Owned part = vector(4, 1, 2, of(MPI_INT));
    REQUIRE(!construct_contiguous<int>(3, *part, outer));
  }
  const Owned owned(outer);
  CHECK(outer->size() == 48);
  std::vector<int> data(24), packed(12);
  for (int i = 0; i < 24; ++i) data[i] = i;
  pack_segment(packed.data(), data.data(), 1, *outer, 0, 48);
  CHECK(packed[5] == 9);
  CHECK(outer->description().types[0]->alive());
}

TEST_CASE("a very long chain of types is freed without recursion") {
  Datatype* last = nullptr;
  REQUIRE(!construct_contiguous<int>(1, of(MPI_INT), last));
  for (int i = 0; i < 300000; ++i) {
    Datatype* next = nullptr;
    REQUIRE(!construct_dup(*last, next));
    last->release();
    last = next;
  }
  last->release();
}

TEST_CASE("layouts nested deeper than the cursor's inline frames") {
  Owned type = contiguous(1, of(MPI_BYTE));
  for (int i = 0; i < 12; ++i) type = vector(2, 1, 3, *resized(*type, 0, type->extent() + 1 + i % 2));
  CHECK(type->size() == 4096);
  CHECK(type->layout().root().depth > 8);
  std::vector<char> source(static_cast<std::size_t>(type->true_extent()));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 7);
  std::vector<char> target(source.size());
  std::vector<char> one(4096), two(4096);
  CHECK(copy_typed(target.data(), 1, *type, source.data(), 1, *type) == 4096);
  pack_segment(one.data(), source.data(), 1, *type, 0, 4096);
  pack_segment(two.data(), target.data(), 1, *type, 0, 4096);
  CHECK(one == two);
}

TEST_CASE("beyond 2 GiB") {
  constexpr MPI_Count kElements = 3LL << 30;
  const Owned wide = vector(kElements, 1, 2, of(MPI_INT));
  CHECK(wide->size() == 4 * kElements);
  CHECK(wide->extent() == (2 * kElements - 1) * 4);
  CHECK(element_count(*wide, 4 * kElements) == kElements);
  CHECK(element_count(*wide, 4 * kElements - 2) == MPI_UNDEFINED);
  const std::size_t reserved = static_cast<std::size_t>(wide->extent());
  void* memory =
      mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* ints = static_cast<int*>(memory);
  constexpr MPI_Count kFirst = kElements - 5;  // the last five of three thousand million
  for (MPI_Count i = kFirst; i < kElements; ++i) ints[2 * i] = static_cast<int>(i - kFirst) + 40;
  int packed[5] = {};
  pack_segment(packed, memory, 1, *wide, kFirst * 4, sizeof packed);
  CHECK(packed[0] == 40);
  CHECK(packed[4] == 44);
  // The same memory as many elements of a small type: counts beyond an int.
  const Owned pair = resized(of(MPI_INT), 0, 8);
  for (int& value : packed) value += 10;
  unpack_segment(memory, kElements, *pair, packed, kFirst * 4, sizeof packed);
  CHECK(ints[2 * kFirst] == 50);
  CHECK(ints[2 * kElements - 2] == 54);
  munmap(memory, reserved);
}

TEST_CASE("MPI_BOTTOM: absolute displacements") {
  double a = 1.5;
  int b[2] = {7, 8};
  const Owned type = structure({1, 2}, {reinterpret_cast<MPI_Aint>(&a), reinterpret_cast<MPI_Aint>(b)},
                               {MPI_DOUBLE, MPI_INT});
  char packed[16];
  pack_segment(packed, MPI_BOTTOM, 1, *type, 0, 16);
  a = 0;
  b[0] = b[1] = 0;
  unpack_segment(MPI_BOTTOM, 1, *type, packed, 0, 16);
  CHECK(a == 1.5);
  CHECK(b[1] == 8);
}

TEST_CASE("errors carry the standard's classes") {
  Datatype* type = nullptr;
  const Datatype& ints = of(MPI_INT);
  CHECK(construct_contiguous<int>(-1, ints, type).error_class() == MPI_ERR_COUNT);
  CHECK(construct_vector<int>(2, -1, 1, ints, type).error_class() == MPI_ERR_ARG);
  const int negative[] = {1, -2};
  const int displacements[] = {0, 4};
  CHECK(construct_indexed<int>(2, negative, displacements, ints, type).error_class() == MPI_ERR_ARG);
  CHECK(take_explanation() == "array_of_blocklengths[1] is -2; block lengths must be 0 or more");
  CHECK(construct_indexed<int>(2, nullptr, displacements, ints, type).error_class() == MPI_ERR_ARG);
  CHECK(construct_contiguous<MPI_Count>(1LL << 62, ints, type).error_class() == MPI_ERR_COUNT);
  CHECK(construct_vector<MPI_Count>(2, 1, 1LL << 62, ints, type).error_class() == MPI_ERR_ARG);
  const MPI_Aint bytes[] = {0};
  const int one[] = {1};
  const MPI_Datatype null[] = {MPI_DATATYPE_NULL};
  CHECK(construct_struct<int>(1, one, bytes, null, type).error_class() == MPI_ERR_TYPE);
  CHECK(type == nullptr);
  take_explanation();
}

TEST_CASE("a renamed predefined type has its new name for one rank only") {
  int one = 0, two = 0;
  Datatype& ints = *datatype_from(MPI_INT);
  rename(ints, &one, "cells");
  CHECK(name_of(ints, &one) == "cells");
  CHECK(name_of(ints, &two) == "MPI_INT");
}
