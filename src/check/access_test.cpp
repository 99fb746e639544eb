// Access against a naive model: the set of bytes of a type's elements.
#include "check/access.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

#include "check/buffers.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/testing/ranks.hpp"

using namespace tmpi;
using check::Access;

namespace {

char memory[1 << 14];

std::set<std::uint64_t> bytes_of(const char* buffer, MPI_Count count, MPI_Datatype handle) {
  const mpi::Datatype& type = *mpi::datatype_from(handle);
  std::set<std::uint64_t> bytes;
  std::vector<unsigned char> packed(static_cast<std::size_t>(count * type.size()), 1);
  std::vector<char> marked(sizeof(memory), 0);
  mpi::unpack_segment(marked.data() + (buffer - memory), count, type, packed.data(), 0, count * type.size());
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i] != 0) bytes.insert(i);
  }
  return bytes;
}

bool meet(const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
  for (std::uint64_t byte : a) {
    if (b.contains(byte)) return true;
  }
  return false;
}

MPI_Datatype random_type(std::mt19937& random) {
  const auto any = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype element = any(0, 1) == 0 ? MPI_CHAR : MPI_INT;
  switch (any(0, 3)) {
    case 0:
      PMPI_Type_contiguous(any(1, 20), element, &type);
      break;
    case 1:
      PMPI_Type_vector(any(1, 8), any(1, 3), any(3, 9), element, &type);
      break;
    case 2: {
      const int lengths[] = {any(0, 2), any(1, 3), any(1, 2)};
      const int places[] = {any(0, 9), any(20, 29), any(12, 17)};
      PMPI_Type_indexed(3, lengths, places, element, &type);
      break;
    }
    default: {
      MPI_Datatype column = MPI_DATATYPE_NULL;
      PMPI_Type_vector(any(2, 4), 1, any(2, 5), element, &column);
      PMPI_Type_create_hvector(any(1, 3), 1, any(80, 200), column, &type);
      PMPI_Type_free(&column);
    }
  }
  PMPI_Type_commit(&type);
  return type;
}

}  // namespace

TEST_CASE("overlap is what the bytes say") {
  mpi::testing::run_ranks(1, 1, [](mpi::Rank&) {
    std::mt19937 random(1);
    const auto any = [&](int least, int most) {
      return std::uniform_int_distribution<int>(least, most)(random);
    };
    int overlapping = 0;
    for (int round = 0; round < 3000; ++round) {
      MPI_Datatype types[] = {random_type(random), random_type(random)};
      const char* buffers[] = {memory + any(4000, 4200), memory + any(4000, 4200)};
      const int counts[] = {any(0, 3), any(1, 3)};
      const auto a = check::make_access(buffers[0], counts[0], types[0], true);
      const auto b = check::make_access(buffers[1], counts[1], types[1], true);
      const bool expected =
          meet(bytes_of(buffers[0], counts[0], types[0]), bytes_of(buffers[1], counts[1], types[1]));
      REQUIRE((a && b && check::overlap(*a, *b)) == expected);
      overlapping += expected ? 1 : 0;
      for (MPI_Datatype& type : types) PMPI_Type_free(&type);
    }
    CHECK(overlapping > 500);
    CHECK(overlapping < 2500);
  });
}

TEST_CASE("reads may meet reads, writes may meet nothing") {
  const auto at = [](std::uint64_t begin, std::uint64_t end, bool writes) {
    Access access;
    access.begin = begin;
    access.end = end;
    access.length = static_cast<MPI_Count>(end - begin);
    access.writes = writes;
    return access;
  };
  check::PendingBuffers pending;
  const auto* owner = reinterpret_cast<const check::Tracked*>(&pending);  // only passed through
  const Access sent = at(100, 200, false), received = at(300, 1300, true), small = at(1400, 1404, true);
  const auto first = pending.add(sent, *owner);
  const auto second = pending.add(received, *owner);
  pending.add(small, *owner);
  CHECK(pending.conflict(at(150, 160, false)) == nullptr);
  CHECK(pending.conflict(at(150, 160, true))->access == &sent);
  CHECK(pending.conflict(at(200, 300, true)) == nullptr);
  CHECK(pending.conflict(at(1299, 1300, false))->access == &received);
  CHECK(pending.conflict(at(1300, 1400, true)) == nullptr);
  CHECK(pending.conflict(at(1403, 1410, true))->access == &small);
  pending.remove(second);
  CHECK(pending.conflict(at(1299, 1300, true)) == nullptr);
  pending.remove(first);
  CHECK(pending.conflict(at(150, 160, true)) == nullptr);
}
