/* two_parts: a program with a bug that seldom shows, for the tour of tools (docs/guide/tour.md).
 *
 * Each worker sends how many numbers it has, then the numbers. Rank 0 takes the parts of whoever comes, and adds all up. The
 * bug: it takes the second part from anybody, too, so that the parts of two workers may be mixed. --mended has it right.
 *
 *   mpirun -n 3 ./two_parts [--mended]
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kCount = 1, kNumbers = 2, kMost = 1000 };

static void worker(int rank) {
  double numbers[kMost];
  for (int i = 0; i < rank; i++) numbers[i] = 1;
  MPI_Send(&rank, 1, MPI_INT, 0, kCount, MPI_COMM_WORLD);
  MPI_Send(numbers, rank, MPI_DOUBLE, 0, kNumbers, MPI_COMM_WORLD);
}

static double sum_of_next(int mended) {
  double numbers[kMost], sum = 0;
  int count;
  MPI_Status status;
  memset(numbers, 0, sizeof numbers);
  MPI_Recv(&count, 1, MPI_INT, MPI_ANY_SOURCE, kCount, MPI_COMM_WORLD, &status);
  const int from = mended ? status.MPI_SOURCE : MPI_ANY_SOURCE;
  MPI_Recv(numbers, kMost, MPI_DOUBLE, from, kNumbers, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; i++) sum += numbers[i];
  return sum;
}

int main(int argc, char** argv) {
  int rank, size, right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int mended = argc == 2 && strcmp(argv[1], "--mended") == 0;
  if ((argc > 1 && !mended) || size > kMost) {
    if (rank == 0) printf("usage: %s [--mended], with up to %d ranks\n", argv[0], kMost);
    MPI_Finalize();
    return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  if (rank > 0) {
    worker(rank);
  } else {
    double sum = 0;
    for (int i = 1; i < size; i++) sum += sum_of_next(mended);
    right = sum == size * (size - 1) / 2;
    printf("result sum %g\ncheck  %s\n", sum, right ? "passed" : "FAILED");
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
