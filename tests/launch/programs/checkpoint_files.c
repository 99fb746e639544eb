/* checkpoint_files FOLDER DIRECTORY: files that a rank has open when it is saved, by descriptors and by streams. It writes and reads on
 * afterwards; what it prints says whether each went on where it was. `checkpoint_files why WHAT FOLDER DIRECTORY`: with one that is in the way. */
#define _GNU_SOURCE
#include <mpi.h>
#include <mpix.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

enum { kRecords = 3000 };
static int rank;

static const char* name(const char* folder, const char* what) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d", folder, what, rank);
  return path;
}

static void check(int good, const char* what) {
  if (!good) printf("rank %d: %s is wrong: %s\n", rank, what, strerror(errno));
}

static void prepare(const char* folder) {
  FILE* const input = fopen(name(folder, "input"), "w");
  for (int i = 0; i < kRecords; i++) fprintf(input, "%d record of rank %d\n", i, rank);
  check(fclose(input) == 0, "input");
}

static int next_record(FILE* input) {
  int number = -1, of = -1;
  return fscanf(input, "%d record of rank %d", &number, &of) == 2 && of == rank ? number : -1;
}

static long long sum_of(const char* path) {
  long long sum = 0, position = 0;
  FILE* const file = fopen(path, "r");
  for (int c; file && (c = getc(file)) != EOF;) sum += c * (++position % 1009);
  if (file) fclose(file);
  return sum * 100000 + position;
}

static void files(const char* folder, const char* directory) {
  prepare(folder);
  const int plain = open(name(folder, "plain"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int copy = dup(plain),
            appended = open(name(folder, "appended"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  const int other = open(name(folder, "plain"), O_RDONLY), null = open("/dev/null", O_RDWR),
            random = open("/dev/urandom", O_RDONLY);
  const int of_output = dup(1), gone = open(name(folder, "gone"), O_RDWR | O_CREAT, 0600);
  check(plain >= 0 && copy >= 0 && appended >= 0 && other >= 0 && null >= 0 && random >= 0 && of_output >= 0,
        "opening");
  close(gone);
  unlink(name(folder, "gone"));
  check(open(name(folder, "plain"), O_RDONLY) == gone, "the lowest number");
  close(gone);
  FILE* input = fopen(name(folder, "input"), "r");
  FILE* output = fopen(name(folder, "output"), "w+");
  FILE* longer = fopen(name(folder, "longer"), "a");
  FILE* again = freopen(name(folder, "input"), "r", fopen(name(folder, "longer"), "r"));
  FILE* unbuffered = fdopen(dup(plain), "w");
  FILE* errors = freopen(name(folder, "errors"), "w", stderr);
  char own[64];
  setvbuf(output, own, _IOFBF, sizeof own);
  setvbuf(unbuffered, NULL, _IONBF, 0);
  int at = 0;
  for (; at < 1000; at++) {
    check(next_record(input) == at, "a record");
    if (at % 7 == 0) fprintf(output, "line %d\n", at);
    if (at % 100 == 0) fprintf(errors, "error %d\n", at);
  }
  check(next_record(again) == 0, "the first record");
  check(ungetc('x', again) == 'x' && getc(again) == 'x', "a character put back");
  fprintf(longer, "before\n");
  fflush(longer);
  check(write(plain, "0123456789", 10) == 10 && write(appended, "before\n", 7) == 7, "writing");
  char text[20] = "";
  check(read(other, text, 4) == 4, "reading");
  const int before[] = {plain,  copy,      appended,      other,          null,
                        random, of_output, fileno(input), fileno(output), fileno(longer)};

  MPIX_Checkpoint(directory);

  int restarted;
  MPIX_Restarted(&restarted);
  if (rank == 0) printf("%s\n", restarted ? "restarted" : "saved");
  const int now[] = {plain,  copy,      appended,      other,          null,
                     random, of_output, fileno(input), fileno(output), fileno(longer)};
  check(memcmp(before, now, sizeof now) == 0, "a number");
  check((fcntl(plain, F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(copy, F_GETFD) & FD_CLOEXEC) == 0,
        "close-on-exec");
  check((fcntl(appended, F_GETFL) & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY), "how it is open");
  check(write(plain, "abcde", 5) == 5 && lseek(copy, 0, SEEK_CUR) == 15, "the offset that two share");
  check(lseek(other, 0, SEEK_CUR) == 4 && read(other, text + 4, 3) == 3 && !strcmp(text, "0123456"),
        "an offset");
  check(write(appended, "after\n", 6) == 6, "appending");
  check(read(null, text, 1) == 0 && read(random, text, 8) == 8, "devices");
  check(write(other, text, 1) < 0 && errno == EBADF, "a file for reading");
  fputs("unbuffered", unbuffered);
  for (; at < kRecords; at++) {
    check(next_record(input) == at, "a record");
    if (at % 7 == 0) fprintf(output, "line %d\n", at);
  }
  check(next_record(input) == -1 && feof(input), "the end");
  check(next_record(again) == 1, "the second record");
  fprintf(longer, "after\n");
  fprintf(errors, "last error\n");
  rewind(output);
  for (at = 0; at < kRecords; at += 7) {
    int line = -1;
    check(fscanf(output, "line %d\n", &line) == 1 && line == at, "what was written");
  }
  char line[200];
  const int length = snprintf(line, sizeof line, "rank %d: a copy of the output\n", rank);
  check(write(of_output, line, length) == length, "a copy of the output");
  check(!fclose(input) && !fclose(output) && !fclose(longer) && !fclose(again) && !fclose(unbuffered) &&
            !fclose(errors),
        "closing");
  check(close(plain) == 0 && close(copy) == 0 && close(plain) < 0 && errno == EBADF, "closing a descriptor");
  for (int i = 0; i < 3; i++) close(before[2 + i]);
  const char* const all[] = {"plain", "appended", "output", "longer", "errors"};
  for (int i = 0; i < 5; i++) printf("rank %d: %s %lld\n", rank, all[i], sum_of(name(folder, all[i])));
}

static void in_the_way(const char* what, const char* folder, const char* directory) {
  int ends[2] = {-1, -1}, fd = -1;
  FILE* file = NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) {
    const char* const path = strdup(name(folder, "way"));
    if (!strcmp(what, "pipe")) pipe(ends);
    if (!strcmp(what, "socket")) socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    if (!strcmp(what, "folder")) fd = open(folder, O_RDONLY | O_DIRECTORY);
    if (!strcmp(what, "deleted")) fd = open(path, O_RDWR | O_CREAT, 0600), unlink(path);
    if (!strcmp(what, "renamed")) {
      fd = open(path, O_RDWR | O_CREAT, 0600);
      char other[4096];
      snprintf(other, sizeof other, "%s.other", path);
      link(path, other);
      unlink(path);
    }
    if (!strcmp(what, "chosen"))
      fd = open(folder, O_TMPFILE | O_RDWR, 0600), close(fd), fd = dup2(open("/etc/passwd", O_RDONLY), 900);
    if (!strcmp(what, "temporary")) file = tmpfile();
    if (!strcmp(what, "pushed")) file = fopen("/etc/passwd", "r"), ungetc('x', file);
    if (!strcmp(what, "wide")) file = fopen("/etc/passwd", "r"), getwc(file);
    if (!strcmp(what, "command")) file = popen("sleep 0", "r");
  }
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(MPIX_Checkpoint(directory), text, &length);
  printf("rank %d: %s\n", rank, text);
  if (ends[0] >= 0) close(ends[0]), close(ends[1]);
  if (fd >= 0) close(fd);
  if (file) !strcmp(what, "command") ? pclose(file) : fclose(file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(argv[1], "why"))
    in_the_way(argv[2], argv[3], argv[4]);
  else
    files(argv[1], argv[2]);
  MPI_Finalize();
  return 0;
}
