/* Where a rank believes to be: its locale, its time zone, its umask. Every rank chooses its own, gives way to the others, and must
 * find what it has chosen. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

static void* codeset(void* nothing) {
  (void)nothing;
  return nl_langinfo(CODESET);
}

static void locales(void) {
  const int odd = rank % 2;
  const char* const mine = odd ? "C.UTF-8" : "C";
  const char* const codes = odd ? "UTF-8" : "ANSI_X3.4-1968";
  expect(strcmp(setlocale(LC_ALL, NULL), "C") == 0, "does not begin in \"C\"");
  give_way();
  unsetenv("LC_ALL");
  setenv("LC_CTYPE", mine, 1);
  setenv("LANG", "C", 1);
  expect(setlocale(LC_CTYPE, "") != NULL, "setlocale");
  for (int i = 0; i < 3; ++i) {
    give_way();
    expect(strcmp(setlocale(LC_CTYPE, NULL), mine) == 0, "setlocale of another rank");
    expect(strcmp(nl_langinfo(CODESET), codes) == 0, "the thread is in another rank's locale");
    expect(MB_CUR_MAX == (odd ? 6 : 1), "MB_CUR_MAX");
    wchar_t wide[4] = {0};
    expect((mbstowcs(wide, "\xc3\xa9", 4) == 1) == odd, "mbstowcs");
  }
  expect(strstr(setlocale(LC_ALL, NULL), odd ? "LC_CTYPE=C.UTF-8;LC_NUMERIC=C;" : "C") != NULL,
         "name of all");
  pthread_t thread;
  void* seen = NULL;
  pthread_create(&thread, NULL, &codeset, NULL);
  pthread_join(thread, &seen);
  expect(strcmp(seen, codes) == 0, "a thread of the rank begins in another locale");
  /* One of its own for a while. */
  locale_t other = newlocale(LC_ALL_MASK, odd ? "C" : "C.UTF-8", NULL);
  expect(uselocale(other) == LC_GLOBAL_LOCALE, "uselocale");
  give_way();
  expect(MB_CUR_MAX == (odd ? 1 : 6), "uselocale does not last");
  expect(uselocale(NULL) == other, "uselocale(NULL)");
  expect(uselocale(LC_GLOBAL_LOCALE) == other, "uselocale back");
  give_way();
  expect(MB_CUR_MAX == (odd ? 6 : 1), "not back in the rank's");
  freelocale(other);
  expect(setlocale(LC_ALL, "no such place") == NULL, "a locale that does not exist");
  expect(strcmp(setlocale(LC_CTYPE, NULL), mine) == 0, "a failed setlocale has changed it");
  char* all = strdup(setlocale(LC_ALL, NULL));
  setlocale(LC_ALL, "C");
  give_way();
  expect(MB_CUR_MAX == 1 && setlocale(LC_ALL, all) != NULL && MB_CUR_MAX == (odd ? 6 : 1), "put back");
  expect(strcmp(localeconv()->decimal_point, ".") == 0, "localeconv");
  free(all);
}

static void zones(void) {
  char zone[32], name[8], text[64];
  const int west = rank % 10;
  snprintf(name, sizeof name, "Z%c%c", 'A' + rank % 26, 'A' + rank / 26 % 26);
  snprintf(zone, sizeof zone, "%s%d", name, west);
  setenv("TZ", zone, 1);
  const time_t noon = 43200;
  for (int i = 0; i < 3; ++i) {
    give_way();
    const struct tm* fields = localtime(&noon);
    expect(fields->tm_hour == 12 - west, "localtime by another rank's zone");
    give_way();
    expect(strcmp(fields->tm_zone, name) == 0, "tm_zone");
    expect(strcmp(tzname[0], name) == 0 && timezone == west * 3600L && daylight == 0, "tzname");
    struct tm copy = *fields;
    copy.tm_isdst = 0;
    expect(mktime(&copy) == noon, "mktime by another rank's zone");
    strftime(text, sizeof text, "%H %Z %s", &copy);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%02d %s %d", 12 - west, name, 43200);
    expect(strcmp(text, wanted) == 0, text);
  }
  give_way();
  if (rank % 3 == 0) unsetenv("TZ");
  give_way();
  tzset();
  expect((strcmp(tzname[0], "UTC") == 0) == (rank % 3 == 0), "tzset without TZ");
}

static void* make_file(void* name) {
  const int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0666);
  struct stat status = {0};
  if (fd >= 0) fstat(fd, &status);
  close(fd);
  unlink(name);
  return (void*)(long)(status.st_mode & 0777);
}

static void masks(void) {
  char name[64];
  snprintf(name, sizeof name, "/tmp/tmpi-places-%d-%ld", rank, (long)getpid());
  const mode_t mine = rank % 3 == 0 ? 0 : rank % 3 == 1 ? 022 : 077;
  const mode_t start = umask(mine);
  expect(start == 027, "umask at the start");
  for (int i = 0; i < 3; ++i) {
    give_way();
    expect((long)make_file(name) == (0666 & ~mine), "a file made with another rank's umask");
    pthread_t thread;
    void* mode = NULL;
    pthread_create(&thread, NULL, &make_file, name);
    pthread_join(thread, &mode);
    expect((long)mode == (0666 & ~mine), "a file made by a thread with another umask");
  }
  give_way();
  expect(umask(start) == mine, "umask of another rank");
  give_way();
  expect(umask(start) == start, "umask put back");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  locales();
  zones();
  masks();
  printf("rank %d: %s\n", rank, failures == 0 ? "good" : "bad");
  MPI_Finalize();
  return failures != 0;
}
