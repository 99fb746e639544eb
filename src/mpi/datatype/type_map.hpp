// For tests: a datatype as the MPI report defines it, a flat list of (offset, basic element), with the
// report's formulas evaluated on the list in the most literal way. The real thing is compared against it.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "mpi/datatype/arrays.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi::test {

struct Element {
  MPI_Count offset;
  MPI_Count size;
  MPI_Count alignment;
};

struct TypeMap {
  std::vector<Element> elements;
  std::vector<MPI_Count> lower, upper;  // bounds set by MPI_Type_create_resized

  MPI_Count size() const {
    MPI_Count sum = 0;
    for (const Element& e : elements) sum += e.size;
    return sum;
  }
  MPI_Count true_lb() const {
    MPI_Count lowest = elements.empty() ? 0 : elements[0].offset;
    for (const Element& e : elements) lowest = std::min(lowest, e.offset);
    return lowest;
  }
  MPI_Count true_ub() const {
    MPI_Count highest = elements.empty() ? 0 : elements[0].offset + elements[0].size;
    for (const Element& e : elements) highest = std::max(highest, e.offset + e.size);
    return highest;
  }
  MPI_Count lb() const { return lower.empty() ? true_lb() : *std::min_element(lower.begin(), lower.end()); }
  MPI_Count extent() const {
    if (!upper.empty()) return *std::max_element(upper.begin(), upper.end()) - lb();
    MPI_Count alignment = 1;
    for (const Element& e : elements) alignment = std::max(alignment, e.alignment);
    MPI_Count extent = true_ub() - true_lb();
    while (extent % alignment != 0) ++extent;
    return extent;
  }

  void append(const TypeMap& other, MPI_Count shift) {
    for (Element e : other.elements) elements.push_back({e.offset + shift, e.size, e.alignment});
    for (MPI_Count bound : other.lower) lower.push_back(bound + shift);
    for (MPI_Count bound : other.upper) upper.push_back(bound + shift);
  }
  void append_block(const TypeMap& other, MPI_Count length, MPI_Count shift) {
    const MPI_Count extent = other.extent();
    for (MPI_Count i = 0; i < length; ++i) append(other, shift + i * extent);
  }

  /// The address of every byte of `count` elements, in the order of the packed stream.
  std::vector<MPI_Count> bytes(MPI_Count count) const {
    std::vector<MPI_Count> list;
    const MPI_Count step = extent();
    for (MPI_Count i = 0; i < count; ++i)
      for (const Element& e : elements)
        for (MPI_Count b = 0; b < e.size; ++b) list.push_back(i * step + e.offset + b);
    return list;
  }
};

/// A datatype with its model. Owns one reference.
struct Pair {
  Datatype* type = nullptr;
  TypeMap map;

  Pair() = default;
  Pair(Datatype* t, TypeMap m) : type(t), map(std::move(m)) {}
  Pair(Pair&& other) noexcept : type(std::exchange(other.type, nullptr)), map(std::move(other.map)) {}
  Pair& operator=(Pair&& other) noexcept {
    std::swap(type, other.type);
    std::swap(map, other.map);
    return *this;
  }
  ~Pair() {
    if (type != nullptr) type->release();
  }
};

/// Makes random nested types of at most `max_elements` basic elements.
class Generator {
 public:
  Generator(unsigned seed, std::size_t max_elements) : random_(seed), max_(max_elements) {}

  Pair make(int depth);
  MPI_Count pick(MPI_Count from, MPI_Count to) {
    return std::uniform_int_distribution<MPI_Count>(from, to)(random_);
  }

 private:
  Pair basic();
  Pair resized(const Pair& old);
  Pair strided(const Pair& old);
  Pair indexed(const Pair& old);
  Pair structure(const Pair& old, int depth);
  Pair subarray(const Pair& old);
  Pair distributed(const Pair& old);

  std::mt19937 random_;
  std::size_t max_;
};

}  // namespace tmpi::mpi::test
