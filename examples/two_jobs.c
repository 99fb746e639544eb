/* Two jobs of one user, started by two commands, in any order: a server that integrates, and clients that ask it to.
 *
 *     tmpirun -n 4 ./two_jobs server --clients 2 &
 *     tmpirun -n 1 ./two_jobs client
 *     tmpirun -n 3 ./two_jobs client --from 0 --to 2
 *
 * The server publishes the name of its port. Each client looks it up, connects, sends intervals, gets what the integral of
 * 4 / (1 + x^2) over them is, and disconnects; the server's ranks share each interval.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char* name = "two_jobs: integrals";
static int rank, size;

static void usage(void) {
  printf(
      "usage: two_jobs server [--clients N] [--name NAME]\n"
      "       two_jobs client [--from X] [--to X] [--name NAME]\n"
      "  --clients N      how many are served before the server ends (default 1)\n"
      "  --from X --to X  the interval (default 0 to 1, where the integral is pi)\n"
      "  --name NAME      under which the server is found\n");
}

static double part_of_integral(double from, double to) {
  const int steps = 1 << 18;
  const double width = (to - from) / steps;
  double sum = 0;
  for (int i = rank; i < steps; i += size) {
    const double x = from + (i + 0.5) * width;
    sum += 4 / (1 + x * x);
  }
  return sum * width;
}

static void serve(int clients) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(name, MPI_INFO_NULL, port);
  }
  for (int served = 0; served < clients; served++) {
    MPI_Comm client;
    double interval[2], part, whole = 0;
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &client);
    MPI_Bcast(interval, 2, MPI_DOUBLE, 0, client); /* from the client's rank 0 */
    part = part_of_integral(interval[0], interval[1]);
    MPI_Reduce(&part, &whole, 1, MPI_DOUBLE, MPI_SUM, 0, client); /* to it */
    MPI_Comm_disconnect(&client);
  }
  if (rank == 0) {
    MPI_Unpublish_name(name, MPI_INFO_NULL, port);
    MPI_Close_port(port);
    printf("result %d served\ncheck passed\n", clients);
  }
}

/* The server may come later. */
static void find(char* port) {
  const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  while (MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS) nanosleep(&pause, NULL);
}

static void ask(double from, double to) {
  char port[MPI_MAX_PORT_NAME] = "";
  double interval[2] = {from, to}, whole = 0;
  MPI_Comm server;
  if (rank == 0) find(port);
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &server);
  MPI_Bcast(interval, 2, MPI_DOUBLE, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, server);
  MPI_Reduce(NULL, &whole, 1, MPI_DOUBLE, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, server);
  MPI_Comm_disconnect(&server);
  if (rank == 0) {
    const int right = fabs(whole - 4 * (atan(to) - atan(from))) < 1e-9;
    printf("result %.9f\ncheck %s\n", whole, right ? "passed" : "FAILED");
  }
}

int main(int argc, char** argv) {
  int clients = 1;
  double from = 0, to = 1;
  const char* role = argc > 1 ? argv[1] : "--help";
  for (int i = 2; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--clients") == 0) clients = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--from") == 0) from = atof(argv[i + 1]);
    if (strcmp(argv[i], "--to") == 0) to = atof(argv[i + 1]);
    if (strcmp(argv[i], "--name") == 0) name = argv[i + 1];
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(role, "server") == 0) {
    serve(clients);
  } else if (strcmp(role, "client") == 0) {
    ask(from, to);
  } else if (rank == 0) {
    usage();
  }
  MPI_Finalize();
  return 0;
}
