// Reductions: predefined, user-defined and non-commutative operators, in place, repeatable to the bit.
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "mpi/coll/coll_test_support.hpp"

namespace tmpi::mpi::test {
namespace {

using Ints = std::vector<int>;

// A user's operator that does not commute: 2 x 2 matrices modulo a prime. A vector of n matrices is 4 n ints.
constexpr int kPrime = 10007;
void multiply(void* in, void* inout, int* length, MPI_Datatype*) {
  const int* a = static_cast<const int*>(in);
  int* b = static_cast<int*>(inout);
  for (int i = 0; i < *length; ++i, a += 4, b += 4) {
    const int product[4] = {(a[0] * b[0] + a[1] * b[2]) % kPrime, (a[0] * b[1] + a[1] * b[3]) % kPrime,
                            (a[2] * b[0] + a[3] * b[2]) % kPrime, (a[2] * b[1] + a[3] * b[3]) % kPrime};
    std::memcpy(b, product, sizeof product);
  }
}

// One way to combine vectors: type, operator, and what it should give.
struct Kind {
  MPI_Datatype type;
  MPI_Op op;
  int ints;  // per element
  void (*combine)(const Ints& a, Ints& b);
};

void add(const Ints& a, Ints& b) {
  for (std::size_t i = 0; i < b.size(); ++i) b[i] += a[i];
}
void times(const Ints& a, Ints& b) {
  int length = static_cast<int>(b.size() / 4);
  multiply(const_cast<int*>(a.data()), b.data(), &length, nullptr);
}

// x_first op ... op x_(last - 1), of `count` elements each. Where all ranks ask for the same the first computes it.
Ints folded(const Kind& kind, int first, int last, int count) {
  struct Known {
    void (*combine)(const Ints& a, Ints& b);
    int first, last, count;
    Ints result;
  };
  static std::mutex lock;
  static std::array<Known, 8> known{};
  static std::size_t oldest = 0;
  const std::lock_guard guard(lock);
  for (const Known& each : known)
    if (each.combine == kind.combine && each.first == first && each.last == last && each.count == count)
      return each.result;
  Ints result = contribution(last - 1, count * kind.ints);
  for (int r = last - 2; r >= first; --r) kind.combine(contribution(r, count * kind.ints), result);
  known[oldest++ % known.size()] = {kind.combine, first, last, count, result};
  return result;
}

void check_rooted(const Kind& kind, int rank, int size, int count) {
  const auto n = length_of(count * kind.ints);
  const Ints mine = contribution(rank, count * kind.ints), all = folded(kind, 0, size, count);
  for (int root = 0; root < size; root += size < 8 ? 1 : 9) {
    Ints result(n, -1);
    MPI_Reduce(mine.data(), rank == root ? result.data() : nullptr, count, kind.type, kind.op, root,
               MPI_COMM_WORLD);
    EXPECT((rank != root || result == all));
    result = mine;
    MPI_Reduce(rank == root ? MPI_IN_PLACE : mine.data(), result.data(), count, kind.type, kind.op, root,
               MPI_COMM_WORLD);
    EXPECT((rank != root || result == all));
  }
}

void check_all(const Kind& kind, int rank, int size, int count) {
  const auto n = length_of(count * kind.ints);
  const Ints mine = contribution(rank, count * kind.ints), all = folded(kind, 0, size, count);
  Ints result(n, -1);
  MPI_Allreduce(mine.data(), result.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
  EXPECT(result == all);
  result = mine;
  MPI_Allreduce(MPI_IN_PLACE, result.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
  EXPECT(result == all);
}

void check_prefix(const Kind& kind, int rank, int size, int count) {
  const auto n = length_of(count * kind.ints);
  const Ints mine = contribution(rank, count * kind.ints), upto = folded(kind, 0, rank + 1, count);
  Ints result(n, -1);
  MPI_Scan(mine.data(), result.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
  EXPECT(result == upto);
  result = mine;
  MPI_Scan(MPI_IN_PLACE, result.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
  EXPECT(result == upto);
  result.assign(n, -1);
  MPI_Exscan(mine.data(), rank == 0 ? nullptr : result.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
  EXPECT((rank == 0 || result == folded(kind, 0, rank, count)));
  result = mine;
  MPI_Exscan(MPI_IN_PLACE, result.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
  EXPECT((rank == 0 ? result == mine : result == folded(kind, 0, rank, count)));
}

void check_scatter(const Kind& kind, int rank, int size, int unit) {
  Ints counts;
  int total = 0, before = 0;
  for (int r = 0; r < size; ++r) {
    counts.push_back(r % 3 * unit);
    if (r < rank) before += counts.back();
    total += counts.back();
  }
  const Ints mine = contribution(rank, total * kind.ints), all = folded(kind, 0, size, total);
  const auto count = length_of(counts[static_cast<std::size_t>(rank)] * kind.ints);
  const auto own = all.begin() + before * kind.ints;
  const Ints right(own, own + static_cast<std::ptrdiff_t>(count));
  Ints result(count, -1);
  MPI_Reduce_scatter(mine.data(), result.data(), counts.data(), kind.type, kind.op, MPI_COMM_WORLD);
  EXPECT(result == right);
  result = mine;
  MPI_Reduce_scatter(MPI_IN_PLACE, result.data(), counts.data(), kind.type, kind.op, MPI_COMM_WORLD);
  result.resize(count);
  EXPECT(result == right);

  const Ints vector = contribution(rank, size * unit * kind.ints), whole = folded(kind, 0, size, size * unit);
  const auto block = length_of(unit * kind.ints);
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(block) * rank;
  const Ints my_block(begin, begin + static_cast<std::ptrdiff_t>(block));
  result.assign(block, -1);
  MPI_Reduce_scatter_block(vector.data(), result.data(), unit, kind.type, kind.op, MPI_COMM_WORLD);
  EXPECT(result == my_block);
  result = vector;
  MPI_Reduce_scatter_block(MPI_IN_PLACE, result.data(), unit, kind.type, kind.op, MPI_COMM_WORLD);
  result.resize(block);
  EXPECT(result == my_block);
}

void with_kinds(const std::function<void(const Kind&)>& body) {
  MPI_Datatype matrix;
  MPI_Op product;
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(multiply, 0, &product);
  body({MPI_INT, MPI_SUM, 1, add});
  body({matrix, product, 4, times});
  MPI_Op_free(&product);
  MPI_Type_free(&matrix);
}

TEST_CASE("reduce, allreduce, scan, exscan: sums of ints, products of matrices") {
  on_many(
      [](int rank, int size) {
        with_kinds([&](const Kind& kind) {
          for (const int count : kCounts) {
            if (size * count > 70000) continue;
            check_rooted(kind, rank, size, count);
            check_all(kind, rank, size, count);
            check_prefix(kind, rank, size, count);
          }
        });
      },
      {1, 2, 3, 7, 33});
}

TEST_CASE("reduce_scatter and reduce_scatter_block") {
  on_many(
      [](int rank, int size) {
        with_kinds([&](const Kind& kind) {
          for (const int unit : {0, 1, 5, 400}) check_scatter(kind, rank, size, unit);
        });
      },
      {1, 2, 3, 7, 33});
}

TEST_CASE("largest value and where it is") {
  on_many([](int rank, int size) {
    struct {
      double value;
      int rank;
    } mine{std::sin(rank * 3.7), rank}, best{0, -1};
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    int right = 0;
    for (int r = 1; r < size; ++r) right = std::sin(r * 3.7) > std::sin(right * 3.7) ? r : right;
    EXPECT(best.rank == right);
    EXPECT(best.value == std::sin(right * 3.7));
  });
}

// A user's operator on a type with gaps: only the first of every two ints is data.
void add_sparse(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[2 * i] += static_cast<int*>(in)[2 * i];
}

TEST_CASE("user-defined operators on derived types leave gaps alone") {
  on_many([](int rank, int size) {
    MPI_Datatype gaps;
    MPI_Op op;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    MPI_Op_create(add_sparse, 1, &op);
    for (const int count : {1, 4, 3000}) {
      Ints mine, result(length_of(2 * count), -5), right;
      for (int i = 0; i < count; ++i) {
        mine.insert(mine.end(), {rank + i, 99});
        right.insert(right.end(), {size * (size - 1) / 2 + size * i, -5});
      }
      MPI_Allreduce(mine.data(), result.data(), count, gaps, op, MPI_COMM_WORLD);
      EXPECT(result == right);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&gaps);
  });
}

TEST_CASE("sums of doubles are the same to the bit for every number of workers and policy") {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::vector<double>> seen;  // by ranks and count
  on_one_node([&](int rank, int size) {
    for (const int count : {1, 7, 500}) {
      std::vector<double> mine, sum(static_cast<std::size_t>(count)), prefix(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) mine.push_back(std::exp(std::sin(value(rank, i)) * 20));
      MPI_Allreduce(mine.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      MPI_Scan(mine.data(), prefix.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      if (rank == size - 1) sum.insert(sum.end(), prefix.begin(), prefix.end());
      MPI_Bcast(prefix.data(), count, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
      std::scoped_lock lock(mutex);
      if (rank == size - 1) {
        const auto [entry, fresh] = seen.try_emplace({size, count}, sum);
        EXPECT(std::memcmp(entry->second.data(), sum.data(), sum.size() * sizeof(double)) == 0);
      }
    }
  });
}

TEST_CASE("barriers hold everybody back") {
  // Of all node processes that the test starts.
  void* shared =
      mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  std::atomic<int>& arrived = *new (shared) std::atomic<int>(0);
  on_many([&](int rank, int size) {
    if (rank == 0) arrived = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT(arrived >= round * size);
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT(arrived <= (round + 1) * size);
    }
  });
  munmap(shared, sizeof(std::atomic<int>));
}

}  // namespace
}  // namespace tmpi::mpi::test
