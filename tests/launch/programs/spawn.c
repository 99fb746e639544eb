/* Parents and children that end in ways of which tmpirun has to tell. argv[1]: what they do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Comm parent, inter;
  int rank, word = 0;
  const char* what = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  const int spawned = parent != MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parent == MPI_COMM_NULL) {
    char* arguments[] = {argv[1], NULL};
    if (strcmp(what, "retry") == 0) {
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      for (int i = 0; i < 3; i++)
        if (MPI_Comm_spawn("/no/such/program", arguments, 30000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                           MPI_ERRCODES_IGNORE) == MPI_SUCCESS)
          return 1;
    }
    MPI_Comm_spawn(strcmp(what, "no_mpi") == 0 ? "/bin/true" : argv[0], arguments, 2, MPI_INFO_NULL, 0,
                   MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    if (strcmp(what, "deadlock") == 0) MPI_Recv(&word, 1, MPI_INT, 1, 7, inter, MPI_STATUS_IGNORE);
    if (strcmp(what, "no_mpi") == 0) MPI_Barrier(inter);
    if (strcmp(what, "accept") == 0) { /* of the children one connects, and nobody else */
      char port[MPI_MAX_PORT_NAME] = "";
      MPI_Comm child;
      MPI_Info info; /* for other jobs it is none: they might connect */
      MPI_Info_create(&info);
      MPI_Info_set(info, "tmpi_scope", "job");
      if (rank == 0) MPI_Open_port(info, port);
      MPI_Info_free(&info);
      if (rank == 0) MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 9, inter);
      for (int i = 0; i < 2; i++) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child);
    }
    if (strcmp(what, "outlive") != 0) MPI_Comm_disconnect(&inter);
  } else {
    if (strcmp(what, "deadlock") == 0) MPI_Recv(&word, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
    if (strcmp(what, "accept") == 0 && rank == 1) {
      char port[MPI_MAX_PORT_NAME];
      MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, parent, MPI_STATUS_IGNORE);
      MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    if (strcmp(what, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 42);
    if (strcmp(what, "leave") == 0 && rank == 1) exit(9);
    if (strcmp(what, "crash") == 0 && rank == 1) *(volatile int*)16 = 1;
    if (strcmp(what, "outlive") != 0) MPI_Comm_disconnect(&parent);
    printf("child %d\n", rank);
  }
  MPI_Finalize();
  if (strcmp(what, "outlive") == 0 && spawned) { /* the parents have long gone */
    volatile double x = 0;
    for (int i = 0; i < 20000000; i++) x += i;
    printf("late %d\n", rank);
  }
  return strcmp(what, "code") == 0 && spawned ? 5 + rank : 0;
}
