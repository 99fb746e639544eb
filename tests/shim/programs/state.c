/* libc state of a rank, seen from inside: every rank works on it, gives way to the others in the middle, and
 * must find what it left. */
#include <getopt.h>
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, failures;

static void expect(int good, const char* what) {
  if (good) return;
  ++failures;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

/* Everybody else runs now. */
static void give_way(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void options(void) {
  char* arguments[] = {"program", "operand", "-a", "-bvalue", "--long", NULL};
  static const struct option names[] = {{"long", no_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
  const char expected[] = {'a', 'b', 'l'};
  for (int i = 0; i < 3; ++i) {
    expect(getopt_long(5, arguments, "ab:", names, NULL) == expected[i], "getopt_long lost its place");
    if (i == 1) expect(strcmp(optarg, "value") == 0, "optarg");
    give_way();
  }
  expect(getopt_long(5, arguments, "ab:", names, NULL) == -1 && optind == 4, "end of options");
}

static void random_numbers(void) {
  int first[20];
  srand(1000 + rank);
  srand48(rank);
  for (int i = 0; i < 20; ++i) first[i] = rand();
  const double real = drand48();
  srand(1000 + rank);
  srand48(rank);
  for (int i = 0; i < 20; ++i) {
    expect(rand() == first[i], "rand gives another rank's numbers");
    if (i % 5 == 0) give_way();
  }
  expect(drand48() == real, "drand48 gives another rank's numbers");
}

static void texts(void) {
  char words[64];
  snprintf(words, sizeof words, "r%d a b", rank);
  char first[16];
  snprintf(first, sizeof first, "r%d", rank);
  expect(strcmp(strtok(words, " "), first) == 0, "strtok");
  const time_t moment = 86400L * 365 * rank;
  const struct tm* fields = gmtime(&moment);
  give_way();
  expect(strcmp(strtok(NULL, " "), "a") == 0, "strtok continues in another rank's text");
  expect(fields->tm_year >= 69 + rank - rank / 300 && fields->tm_year <= 70 + rank,
         "gmtime's object is shared");
}

static void environment(void) {
  char value[16];
  snprintf(value, sizeof value, "%d", rank);
  setenv("TMPI_STATE_TEST", value, 1);
  give_way();
  expect(strcmp(getenv("TMPI_STATE_TEST"), value) == 0, "setenv reaches other ranks");
  give_way();
  if (rank == 0) clearenv();
  give_way();
  expect((getenv("TMPI_STATE_TEST") == NULL) == (rank == 0), "clearenv reaches other ranks");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options();
  random_numbers();
  texts();
  environment();
  printf("rank %d: %s\n", rank, failures == 0 ? "good" : "bad");
  MPI_Finalize();
  return failures != 0;
}
