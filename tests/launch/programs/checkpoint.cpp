// checkpoint DIRECTORY: what a rank has of its own in C++, saved at the bottom of a recursion that an exception leaves.
#include <mpi.h>
#include <mpix.h>
#include <cstring>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Base {
  virtual ~Base() = default;
  virtual double f(double) const = 0;
};
struct A : Base {
  double f(double x) const override { return x + 1; }
};
struct B : Base {
  double f(double x) const override { return x * 1.25; }
};
static std::map<std::string, std::vector<double>> data;
thread_local std::string name = "none";
static std::function<double(double)> twice = [](double x) { return 2 * x; };

static int deep(int n, const char* dir, int rank) {
  std::string local = "level " + std::to_string(n);
  std::vector<int> numbers(n, n);
  int flag = 0;
  if (n == 0) {
    if (MPIX_Checkpoint(dir) != MPI_SUCCESS) throw std::runtime_error("no");
    MPIX_Restarted(&flag);
    if (rank == 0) std::cout << (flag ? "restarted" : "saved") << std::endl;
    throw std::out_of_range("from the bottom, " + name);
  }
  flag = deep(n - 1, dir, rank);
  return flag + numbers.size() + local.size();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::cout << std::setprecision(5);
  name = "rank " + std::to_string(rank);
  std::vector<std::unique_ptr<Base>> all;
  for (int i = 0; i < 100; i++) {
    if (i % 3)
      all.push_back(std::make_unique<A>());
    else
      all.push_back(std::make_unique<B>());
  }
  for (int i = 0; i < 200; i++) data["key " + std::to_string(i)].assign(50 + i, i * 0.5 + rank);
  std::ostringstream kept;
  kept << "kept by " << rank << ' ';
  std::string what;
  try {
    deep(40, argv[1], rank);
  } catch (const std::out_of_range& e) {
    what = e.what();
  }
  kept << "and gone on";
  double x = rank;
  for (auto& f : all) x = f->f(x);
  for (auto& [k, v] : data) {
    v.push_back(x);
    for (double y : v) x += twice(y) * 1e-6;
  }
  double sum;
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int r = 0; r < size; r++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (r == rank) std::cout << what << "; " << kept.str() << "; " << sum << std::endl;
  }
  char* big = static_cast<char*>(std::realloc(std::calloc(1000000, 3), 9000000));
  std::memset(big, 1, 9000000);
  std::free(big);
  MPI_Finalize();
}
