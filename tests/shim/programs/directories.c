/* Each rank has a working directory of its own. argv[1]: a folder for them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, failures;

static void expect(int good, const char* what) {
  if (good) return;
  ++failures;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

static void expect_place(const char* wanted) {
  char place[PATH_MAX];
  expect(getcwd(place, sizeof place) != NULL && strcmp(place, wanted) == 0, wanted);
}

static void leave_file(const char* name) {
  FILE* file = fopen(name, "w");
  expect(file != NULL, "cannot write");
  if (file == NULL) return;
  fprintf(file, "%d\n", rank);
  fclose(file);
}

static void* in_thread(void* wanted) {
  for (int i = 0; i < 20; ++i) {
    expect_place(wanted);
    usleep(1000);
  }
  leave_file("thread");
  return NULL;
}

int main(int argc, char** argv) {
  char start[PATH_MAX], mine[PATH_MAX], line[64] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect(getcwd(start, sizeof start) != NULL, "getcwd");
  snprintf(mine, sizeof mine, "%s/rank%d", argv[1], rank);
  expect(mkdir(mine, 0777) == 0, "mkdir");
  MPI_Barrier(MPI_COMM_WORLD);
  /* One stays where it was. */
  const int moves = rank != 1;
  if (moves) expect(chdir(argv[1]) == 0, "chdir");
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(line, sizeof line, "rank%d", rank);
  if (moves) expect(chdir(line) == 0, "chdir to a relative path");
  for (int i = 0; i < 50; ++i) {
    expect_place(moves ? mine : start);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (moves) leave_file("left");
  FILE* pipe = popen("pwd", "r");
  expect(pipe != NULL && fgets(line, sizeof line, pipe) != NULL, "popen");
  line[strcspn(line, "\n")] = '\0';
  expect(strcmp(line, moves ? mine : start) == 0, "a child is elsewhere");
  pclose(pipe);
  pthread_t thread;
  expect(pthread_create(&thread, NULL, in_thread, moves ? mine : start) == 0, "pthread_create");
  for (int i = 0; i < 50; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(500);
  }
  expect(pthread_join(thread, NULL) == 0, "pthread_join");
  const int up = open("..", O_RDONLY | O_DIRECTORY);
  if (moves) expect(fchdir(up) == 0, "fchdir");
  MPI_Barrier(MPI_COMM_WORLD);
  expect_place(moves ? argv[1] : start);
  expect(chdir("no such place") == -1, "chdir to nowhere");
  expect_place(moves ? argv[1] : start);
  MPI_Finalize();
  return failures != 0;
}
