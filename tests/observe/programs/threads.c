/* A thread of each rank sends kMessages messages, which the rank itself receives. */
#include <mpi.h>
#include <pthread.h>

enum { kMessages = 5 };

static int rank;

static void* send_all(void* argument) {
  for (int i = 0; i < kMessages; i++) MPI_Send(&i, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
  return argument;
}

int main(int argc, char** argv) {
  int provided, value;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 77);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_create(&thread, NULL, send_all, NULL);
  for (int i = 0; i < kMessages; i++)
    MPI_Recv(&value, 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @recv */
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
