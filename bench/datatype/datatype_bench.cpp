// Packing, typed copies and reductions against memcpy and hand-written loops. Prints the medians of
// interleaved repetitions and their ratio: 1.00 is as fast as by hand, smaller is faster.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/op/op.hpp"

using namespace tmpi::mpi;

namespace {

/// Processor time of this thread: a busy machine must not count.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

double once(const std::function<void()>& run, int times) {
  const double start = now();
  for (int i = 0; i < times; ++i) {
    run();
    asm volatile("" ::: "memory");
  }
  return (now() - start) / times;
}

void compare(const char* what, const std::function<void()>& ours, const std::function<void()>& by_hand) {
  constexpr int kRounds = 15;
  const int times = std::max(1, static_cast<int>(2e6 / std::max(once(by_hand, 2), 1.0)));
  std::vector<double> a, b;
  for (int round = 0; round < kRounds; ++round) {
    a.push_back(once(ours, times));
    b.push_back(once(by_hand, times));
  }
  std::nth_element(a.begin(), a.begin() + kRounds / 2, a.end());
  std::nth_element(b.begin(), b.begin() + kRounds / 2, b.end());
  std::printf("%-58s %12.0f %12.0f %8.2f\n", what, a[kRounds / 2], b[kRounds / 2],
              a[kRounds / 2] / b[kRounds / 2]);
}

Datatype& committed(Err error, Datatype*& type) {
  if (error) std::abort();
  type->commit();
  return *type;
}
const Datatype& of(MPI_Datatype handle) {
  return *datatype_from(handle);
}

constexpr int kRows = 1000, kColumns = 1000;

struct Particle {
  double position[3];
  int id;
  float charge;  // not sent
  double velocity[3];
};

std::vector<double> matrix(2 * kRows * kColumns, 1.0), other(2 * kRows * kColumns, 2.0);
std::vector<Particle> particles(20000), received(20000);

void contiguous() {
  for (const int bytes : {64, 1024, 64 << 10, 1 << 20, 4 << 20}) {
    char what[80];
    std::snprintf(what, sizeof what, "contiguous copy, %d bytes", bytes);
    compare(
        what,
        [=] {
          (void)copy_typed(other.data(), bytes / 8, of(MPI_DOUBLE), matrix.data(), bytes / 8, of(MPI_DOUBLE));
        },
        [=] { std::memcpy(other.data(), matrix.data(), static_cast<std::size_t>(bytes)); });
  }
}

void strided() {
  Datatype* type = nullptr;
  const Datatype& column = committed(construct_vector<int>(kRows, 1, kColumns, of(MPI_DOUBLE), type), type);
  compare(
      "pack a column of a 1000 x 1000 matrix",
      [&] { pack_segment(other.data(), matrix.data(), 1, column, 0, column.size()); },
      [] {
        for (int i = 0; i < kRows; ++i) other[i] = matrix[i * kColumns];
      });
  const Datatype& every = committed(construct_vector<int>(100000, 1, 2, of(MPI_DOUBLE), type), type);
  compare(
      "pack every second of 200,000 doubles",
      [&] { pack_segment(other.data(), matrix.data(), 1, every, 0, every.size()); },
      [] {
        for (int i = 0; i < 100000; ++i) other[i] = matrix[2 * i];
      });
  compare(
      "unpack into every second of 200,000 doubles",
      [&] { unpack_segment(matrix.data(), 1, every, other.data(), 0, every.size()); },
      [] {
        for (int i = 0; i < 100000; ++i) matrix[2 * i] = other[i];
      });
  compare(
      "the same in segments of 8 KiB",
      [&] {
        for (MPI_Count at = 0; at < every.size(); at += 8192) {
          const MPI_Count length = std::min<MPI_Count>(8192, every.size() - at);
          unpack_segment(matrix.data(), 1, every, reinterpret_cast<char*>(other.data()) + at, at, length);
        }
      },
      [] {
        for (int i = 0; i < 100000; ++i) matrix[2 * i] = other[i];
      });
  const Datatype& block = committed(construct_vector<int>(500, 500, kColumns, of(MPI_DOUBLE), type), type);
  compare(
      "copy a 500 x 500 block to a block",
      [&] { (void)copy_typed(other.data(), 1, block, matrix.data(), 1, block); },
      [] {
        for (int i = 0; i < 500; ++i)
          std::memcpy(&other[i * kColumns], &matrix[i * kColumns], 500 * sizeof(double));
      });
  const Datatype& halo = committed(construct_vector<int>(kRows, 2, kColumns, of(MPI_DOUBLE), type), type);
  compare(
      "copy two columns to a column each (different layouts)",
      [&] { (void)copy_typed(other.data(), 2, column, matrix.data(), 1, halo); },
      [] {
        double* to = other.data();
        int row = 0;
        for (int i = 0; i < 2 * kRows; ++i) {
          to[row * kColumns] = matrix[i / 2 * kColumns + i % 2];
          if (++row == kRows) row = 0, to += (kRows - 1) * kColumns + 1;
        }
      });
}

void records() {
  Datatype* type = nullptr;
  const int lengths[] = {3, 1, 3};
  const MPI_Aint displacements[] = {offsetof(Particle, position), offsetof(Particle, id),
                                    offsetof(Particle, velocity)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
  const Datatype& sent = committed(construct_struct<int>(3, lengths, displacements, types, type), type);
  const auto count = static_cast<MPI_Count>(particles.size());
  const auto by_hand = [] {
    char* to = reinterpret_cast<char*>(other.data());
    for (const Particle& p : particles) {
      std::memcpy(to, &p, 28);
      std::memcpy(to + 28, p.velocity, 24);
      to += 52;
    }
  };
  compare(
      "pack 20,000 particles, all fields but one",
      [&] { pack_segment(other.data(), particles.data(), count, sent, 0, count * sent.size()); }, by_hand);
  compare(
      "copy 20,000 particles, all fields but one",
      [&] { (void)copy_typed(received.data(), count, sent, particles.data(), count, sent); },
      [] {
        for (std::size_t i = 0; i < particles.size(); ++i) {
          std::memcpy(&received[i], &particles[i], 28);
          std::memcpy(received[i].velocity, particles[i].velocity, 24);
        }
      });
  static std::vector<int> indices;
  for (int i = 0; i < 50000; ++i) indices.push_back(4 * i + i % 3);
  const Datatype& scattered =
      committed(construct_indexed_block<int>(50000, 1, indices.data(), of(MPI_DOUBLE), type), type);
  compare(
      "pack 50,000 scattered doubles",
      [&] { pack_segment(other.data(), matrix.data(), 1, scattered, 0, scattered.size()); },
      [] {
        for (int i = 0; i < 50000; ++i) other[i] = matrix[indices[i]];
      });
  compare(
      "copy 50,000 scattered doubles to scattered ones",
      [&] { (void)copy_typed(other.data(), 1, scattered, matrix.data(), 1, scattered); },
      [] {
        for (int i = 0; i < 50000; ++i) other[indices[i]] = matrix[indices[i]];
      });
}

template <class T>
void sum(const char* what, MPI_Datatype handle, MPI_Count count) {
  auto* in = reinterpret_cast<T*>(matrix.data());
  auto* inout = reinterpret_cast<T*>(other.data());
  compare(
      what, [=] { reduce_local(*op_from(MPI_SUM), in, inout, count, of(handle)); },
      [=] {
        for (MPI_Count i = 0; i < count; ++i) inout[i] = static_cast<T>(in[i] + inout[i]);
      });
}

}  // namespace

int main() {
  std::printf("%-58s %12s %12s %8s\n", "", "tmpi ns", "by hand ns", "ratio");
  contiguous();
  strided();
  records();
  sum<double>("sum of 1 double", MPI_DOUBLE, 1);
  sum<double>("sum of 1,000 doubles", MPI_DOUBLE, 1000);
  sum<float>("sum of 1,000 floats", MPI_FLOAT, 1000);
  sum<signed char>("sum of 8,000 signed chars", MPI_SIGNED_CHAR, 8000);
  sum<double>("sum of 500,000 doubles", MPI_DOUBLE, 500000);
}
