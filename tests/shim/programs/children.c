/* Other processes: fork, system and popen in every rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, failures;

static void expect(int good, const char* what) {
  if (good) return;
  ++failures;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

static void say_goodbye(void) {
  printf("exit handler of %d in %s\n", rank, getenv("WHERE"));
}

int main(int argc, char** argv) {
  char number[16], line[64] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(number, sizeof number, "%d", rank);
  setenv("MY_RANK", number, 1);
  setenv("WHERE", "the rank", 1);
  atexit(say_goodbye);
  MPI_Barrier(MPI_COMM_WORLD);

  FILE* pipe = popen("echo $MY_RANK", "r");
  expect(pipe != NULL && fgets(line, sizeof line, pipe) != NULL && atoi(line) == rank,
         "popen: another rank's environment");
  expect(pclose(pipe) == 0, "pclose");
  expect(WEXITSTATUS(system("exit $MY_RANK")) == rank, "system: another rank's environment");

  const pid_t child = fork();
  if (child == 0) {
    setenv("WHERE", "the child", 1);
    exit(100 + rank); /* the child ends, with its handlers; the rank goes on */
  }
  int status = 0;
  expect(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 100 + rank, "fork and exit");

  const pid_t other = fork();
  if (other == 0) {
    execlp("sh", "sh", "-c", "exit $MY_RANK", (char*)NULL);
    _exit(99);
  }
  expect(waitpid(other, &status, 0) == other && WEXITSTATUS(status) == rank, "fork and exec");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
