/* Messages around a ring; then each rank prints what the tools interface says of it: the variables that the arguments
 * name, each with a line "rank name value...". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 32, kElements = 64, kBytes = 20000 };

int main(int argc, char** argv) {
  const int classes[] = {MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_PVAR_CLASS_TIMER,
                         MPI_T_PVAR_CLASS_HIGHWATERMARK};
  static char out[kBytes], in[kBytes];
  int provided, rank, size, counts[kMost];
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handles[kMost];
  MPI_Datatype types[kMost];
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  for (int i = 1; i < argc && i < kMost; i++) {
    int index = -1;
    for (int c = 0; c < 4 && index < 0; c++) MPI_T_pvar_get_index(argv[i], classes[c], &index);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, &types[i], NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    if (MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &counts[i]) != MPI_SUCCESS) return 1;
  }
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 20; i++) {
    MPI_Sendrecv(out, i % 2 ? 40 : kBytes, MPI_CHAR, (rank + 1) % size, 0, in, kBytes, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i < argc && i < kMost; i++) {
    unsigned long long numbers[kElements];
    double seconds[kElements];
    MPI_T_pvar_read(session, handles[i], types[i] == MPI_DOUBLE ? (void*)seconds : (void*)numbers);
    printf("%d %s", rank, argv[i]);
    for (int each = 0; each < counts[i]; each++) {
      if (types[i] == MPI_DOUBLE)
        printf(" %.9f", seconds[each]);
      else
        printf(" %llu", numbers[each]);
    }
    printf("\n");
  }
  MPI_Finalize();
  MPI_T_finalize();
  return 0;
}
