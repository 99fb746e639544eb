/* Record locks between ranks, as between processes:
 *   count FILE N       every rank adds 1 to the number in FILE N times, under a lock
 *   exclude FILE       rank 0 locks two bytes; the others are refused them, and get others; closing and ending unlock
 *   deadlock FILE      two ranks wait for each other: one is told
 *   hold FILE          rank 0 locks the file, says so, and waits for the end of its stdin */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

#define CHECK(what)                                                                           \
  do {                                                                                        \
    if (!(what))                                                                              \
      printf("rank %d, line %d: %s is wrong (%s)\n", rank, __LINE__, #what, strerror(errno)), \
          fflush(stdout);                                                                     \
  } while (0)

static int set(int fd, int command, int type, off_t start, off_t length) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(fd, command, &lock);
}

static struct flock ask(int fd, int type, off_t start, off_t length) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  CHECK(fcntl(fd, F_GETLK, &lock) == 0);
  return lock;
}

static int is_free(int fd, off_t byte) {
  return ask(fd, F_WRLCK, byte, 1).l_type == F_UNLCK;
}

static void wait_all(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void count(const char* file, int times) {
  const int fd = open(file, O_RDWR | O_CREAT, 0600);
  for (int i = 0; i < times; ++i) {
    long number = 0;
    lseek(fd, 0, SEEK_SET);
    CHECK(i % 2 ? lockf(fd, F_LOCK, 0) == 0 : set(fd, F_SETLKW, F_WRLCK, 0, 0) == 0);
    CHECK(pread(fd, &number, sizeof number, 0) >= 0);
    if (i % 8 == 0) usleep(100); /* others come, and wait */
    ++number;
    CHECK(pwrite(fd, &number, sizeof number, 0) == sizeof number);
    CHECK(i % 2 ? lockf(fd, F_ULOCK, 0) == 0 : set(fd, F_SETLK, F_UNLCK, 0, 0) == 0);
  }
  wait_all();
  long number = 0;
  CHECK(pread(fd, &number, sizeof number, 0) == sizeof number);
  if (rank == 0) printf("%ld\n", number);
  close(fd);
}

static void exclude(const char* file) {
  int fd = open(file, O_RDWR | O_CREAT, 0600);
  if (rank == 0) CHECK(set(fd, F_SETLK, F_WRLCK, 0, 2) == 0);
  wait_all();
  if (rank > 0) {
    CHECK(set(fd, F_SETLK, F_RDLCK, 1, 1) == -1 && (errno == EAGAIN || errno == EACCES));
    CHECK(lseek(fd, 1, SEEK_SET) == 1 && lockf(fd, F_TEST, 1) == -1 && errno == EACCES);
    CHECK(lockf(fd, F_TLOCK, 1) == -1);
    CHECK(set(fd, F_SETLK, F_WRLCK, 2 * rank, 2) == 0);
    const struct flock lock = ask(fd, F_WRLCK, 0, 0);
    CHECK(lock.l_type == F_WRLCK && lock.l_pid > 0 && lock.l_pid != -1);
  } else {
    CHECK(set(fd, F_SETLK, F_WRLCK, 0, 1) == 0); /* one's own lock is no obstacle */
    CHECK(is_free(fd, 0));
  }
  wait_all();
  if (rank == 0) {
    for (int i = 1; i < size; ++i) CHECK(!is_free(fd, 2 * i));
    CHECK(is_free(fd, 2 * size));
    const int other = open(file, O_RDONLY);
    CHECK(set(other, F_SETLK, F_WRLCK, 100, 1) == -1 && errno == EBADF);
    CHECK(set(other, F_SETLK, F_RDLCK, 100, 1) == 0);
    CHECK(set(fd, F_SETLK, F_WRLCK, 100, 1) == 0);
    close(other); /* any close drops the rank's locks, and no other's */
    CHECK(!is_free(fd, 2));
  }
  wait_all();
  if (rank == 1) CHECK(is_free(fd, 0) && is_free(fd, 100));
  if (rank == 2) CHECK(!is_free(fd, 2));
  wait_all();
  if (rank == 1) {
    FILE* stream = fopen(file, "r+");
    fputs("x", stream);
    fclose(stream);
  }
  wait_all();
  if (rank == 2) CHECK(is_free(fd, 2) && !is_free(fd, 6));
  wait_all();
  if (rank == 2) CHECK(dup2(0, fd) == fd);
  wait_all();
  if (rank == 0) CHECK(is_free(fd, 4) && !is_free(fd, 6));
  wait_all();
  if (rank == 0) {
    unlink(file); /* a lock belongs to the file, not to its name */
    CHECK(!is_free(fd, 6));
    for (int i = 3; i < size; ++i) CHECK(set(fd, F_SETLK, F_RDLCK, 2 * i, 2) == -1);
  }
  if (rank == 0) printf("done\n");
}

static void deadlock(const char* file) {
  const int fd = open(file, O_RDWR | O_CREAT, 0600);
  int told = 0, sum;
  if (rank < 2) CHECK(set(fd, F_SETLK, F_WRLCK, rank, 1) == 0);
  wait_all();
  if (rank < 2 && set(fd, F_SETLKW, F_WRLCK, 1 - rank, 1) != 0) {
    CHECK(errno == EDEADLK);
    told = 1;
    CHECK(set(fd, F_SETLK, F_UNLCK, 0, 0) == 0);
  }
  MPI_Reduce(&told, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d told\n", sum);
}

static void hold(const char* file) {
  const int fd = open(file, O_RDWR | O_CREAT, 0600);
  if (rank == 0) {
    CHECK(lockf(fd, F_LOCK, 0) == 0);
    printf("held\n");
    fflush(stdout);
    while (getchar() != EOF) {
    }
  }
  wait_all();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "count") == 0) count(argv[2], atoi(argv[3]));
  if (strcmp(argv[1], "exclude") == 0) exclude(argv[2]);
  if (strcmp(argv[1], "deadlock") == 0) deadlock(argv[2]);
  if (strcmp(argv[1], "hold") == 0) hold(argv[2]);
  MPI_Finalize();
  return 0;
}
