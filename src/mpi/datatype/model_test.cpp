// Random nested types against the naive type map: bounds, packing in segments, typed copies, element counts.
#include <doctest/doctest.h>

#include <numeric>
#include <set>

#include "base/sanitized.hpp"
#include "mpi/datatype/type_map.hpp"

using namespace tmpi::mpi;
using tmpi::mpi::test::Generator;
using tmpi::mpi::test::TypeMap;
using ModelPair = tmpi::mpi::test::Pair;

namespace {

constexpr int kTypes = tmpi::kSanitized ? 1000 : 3000;

/// Memory that `count` elements touch, with a margin that must stay as it is.
class Memory {
 public:
  Memory(const std::vector<MPI_Count>& bytes, int seed) {
    MPI_Count low = 0, high = 0;
    for (MPI_Count b : bytes) low = std::min(low, b), high = std::max(high, b + 1);
    origin_ = 64 - low;
    data_.resize(static_cast<std::size_t>(high - low + 128));
    std::mt19937 random(static_cast<unsigned>(seed));
    for (char& c : data_) c = static_cast<char>(random());
  }
  char* base() { return data_.data() + origin_; }
  std::vector<char> stream(const std::vector<MPI_Count>& bytes) {
    std::vector<char> packed;
    for (MPI_Count b : bytes) packed.push_back(base()[b]);
    return packed;
  }
  std::vector<char> data_;
  MPI_Count origin_;
};

bool overlaps(const std::vector<MPI_Count>& bytes) {
  return std::set<MPI_Count>(bytes.begin(), bytes.end()).size() != bytes.size();
}

void check_bounds(const ModelPair& made) {
  CHECK(made.type->size() == made.map.size());
  CHECK(made.type->lb() == made.map.lb());
  CHECK(made.type->extent() == made.map.extent());
  CHECK(made.type->true_lb() == made.map.true_lb());
  CHECK(made.type->true_extent() == made.map.true_ub() - made.map.true_lb());
  CHECK(made.type->elements() == static_cast<MPI_Count>(made.map.elements.size()));
  if (made.type->contiguous()) {
    const auto bytes = made.map.bytes(2);
    for (std::size_t i = 0; i < bytes.size(); ++i) REQUIRE(bytes[i] == static_cast<MPI_Count>(i));
  }
}

void check_elements(const ModelPair& made) {
  const Datatype& type = *made.type;
  MPI_Count bytes = 0, count = 0;
  for (int round = 0; round < 2; ++round) {
    for (const auto& element : made.map.elements) {
      REQUIRE(element_count(type, bytes) == count);
      REQUIRE(element_bytes(type, count) == bytes);
      for (MPI_Count b = 1; b < element.size; ++b) REQUIRE(element_count(type, bytes + b) == MPI_UNDEFINED);
      bytes += element.size;
      ++count;
    }
  }
  REQUIRE(element_count(type, bytes) == count);
}

void check_segments(const ModelPair& made, MPI_Count count, Generator& generator) {
  const auto bytes = made.map.bytes(count);
  const MPI_Count size = static_cast<MPI_Count>(bytes.size());
  Memory memory(bytes, 1);
  const auto expected = memory.stream(bytes);
  for (int i = 0; i < 12; ++i) {
    const MPI_Count from = i == 0 ? 0 : generator.pick(0, size);
    const MPI_Count to = i == 0 ? size : generator.pick(from, size);
    std::vector<char> packed(static_cast<std::size_t>(to - from) + 1, 'x');
    pack_segment(packed.data(), memory.base(), count, *made.type, from, to - from);
    REQUIRE(packed.back() == 'x');
    REQUIRE(std::equal(packed.begin(), packed.end() - 1, expected.begin() + from));
  }
  if (overlaps(bytes)) return;
  Memory target(bytes, 2);
  auto wanted = target;
  for (MPI_Count i = 0; i < size; ++i) wanted.base()[bytes[i]] = expected[i];
  for (MPI_Count at = 0; at < size;) {
    const MPI_Count length = std::min(size - at, generator.pick(1, std::max<MPI_Count>(1, size / 3)));
    unpack_segment(target.base(), count, *made.type, expected.data() + at, at, length);
    at += length;
  }
  REQUIRE(target.data_ == wanted.data_);
}

void check_copy(const ModelPair& from, MPI_Count scount, const ModelPair& to, MPI_Count dcount) {
  const auto sbytes = from.map.bytes(scount);
  const auto dbytes = to.map.bytes(dcount);
  if (overlaps(dbytes)) return;
  Memory source(sbytes, 3);
  Memory target(dbytes, 4);
  auto wanted = target;
  const std::size_t common = std::min(sbytes.size(), dbytes.size());
  for (std::size_t i = 0; i < common; ++i) wanted.base()[dbytes[i]] = source.base()[sbytes[i]];
  const MPI_Count copied = copy_typed(target.base(), dcount, *to.type, source.base(), scount, *from.type);
  REQUIRE(copied == static_cast<MPI_Count>(common));
  REQUIRE(target.data_ == wanted.data_);
}

}  // namespace

TEST_CASE("random types agree with their type maps") {
  Generator generator(12345, 400);
  ModelPair previous = generator.make(1);
  for (int i = 0; i < kTypes; ++i) {
    CAPTURE(i);
    ModelPair made = generator.make(i % 6);
    check_bounds(made);
    check_elements(made);
    check_segments(made, generator.pick(0, 4), generator);
    check_copy(made, generator.pick(0, 4), previous, generator.pick(0, 4));
    check_copy(made, 3, made, 3);
    check_copy(made, 2, made, 4);
    const MPI_Count ratio = made.type->size() == 0 ? 0 : previous.type->size() / made.type->size();
    check_copy(previous, 2, made, std::min<MPI_Count>(2 * ratio, 50));
    previous = std::move(made);
  }
}
