/* Whose memory fits whose free: what libc hands out to be freed, with whatever malloc the program has. With OWN_MALLOC that is one of the
 * program itself, which knows its own blocks: a foreign one given to free ends the program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <argz.h>
#include <dirent.h>
#include <envz.h>
#include <glob.h>
#include <malloc.h>
#include <netdb.h>
#include <pthread.h>
#include <regex.h>
#include <wchar.h>

#include "steps.h"

#ifdef OWN_MALLOC
#include "own_malloc.h"
#endif

static void from_strings(void) {
  char *copy = strdup("twenty-four bytes of text"), *part = strndup(copy, 6), *made = NULL;
  wchar_t* wide = wcsdup(L"wide");
  CHECK(asprintf(&made, "%s and %d", part, world_rank) > 0);
  CHECK(strncmp(made, "twenty and ", 11) == 0);
  free(copy);
  free(part);
  free(made);
  free(wide);
}

static void from_files(const char* name) {
  char *resolved = realpath(name, NULL), *here = getcwd(NULL, 0), *line = NULL;
  CHECK(resolved != NULL && here != NULL && strncmp(resolved, here, strlen(here)) == 0);
  size_t size = 0;
  FILE* file = fopen(name, "r");
  CHECK(file != NULL && getline(&line, &size, file) == 6);
  CHECK_STRING(line, "first\n");
  line = realloc(line, 4000); /* the rank's realloc of libc's block, and the other way round */
  size = 4000;
  CHECK(line != NULL && getdelim(&line, &size, 'c', file) == 3);
  fclose(file);
  free(line);
  free(resolved);
  free(here);
  struct dirent** entries;
  int count = scandir(".", &entries, NULL, alphasort);
  CHECK(count > 2);
  for (int i = 0; i < count; i++) free(entries[i]);
  free(entries);
  glob_t found;
  CHECK(glob("/etc/host*", 0, NULL, &found) == 0 && found.gl_pathc > 0);
  globfree(&found);
}

static void from_streams(void) {
  char* text = NULL;
  size_t size;
  FILE* stream = open_memstream(&text, &size);
  for (int i = 0; i < 2000; i++) fprintf(stream, "%d ", i);
  fclose(stream);
  CHECK(size > 2000 && strncmp(text, "0 1 2 ", 6) == 0);
  free(text);
}

static void from_scanning(const char* name) {
  char *word = NULL, *three = NULL, *digits = NULL;
  wchar_t* wide = NULL;
  int number = 0, used = 0;
  CHECK_EQ(sscanf("12 word abc 777 wide", "%d %ms %n%*1c%2mc %m[0-9] %mls", &number, &word, &used, &three,
                  &digits, &wide),
           5);
  CHECK(number == 12 && used == 8 && strncmp(three, "bc", 2) == 0);
  CHECK_STRING(word, "word");
  CHECK_STRING(digits, "777");
  CHECK(wcscmp(wide, L"wide") == 0);
  free(word);
  free(three);
  free(digits);
  free(wide);
  FILE* file = fopen(name, "r");
  CHECK_EQ(fscanf(file, "%ms%m[x]", &word, &three), 1);
  CHECK_STRING(word, "first");
  free(word);
  fclose(file);
}

static void from_lists(void) {
  char* list = NULL;
  size_t size = 0;
  unsigned replaced = 0;
  CHECK(argz_create_sep("one::two:three", ':', &list, &size) == 0 && size == 14 &&
        argz_count(list, size) == 3);
  CHECK(argz_add(&list, &size, "four") == 0 && argz_insert(&list, &size, list + 5, "1.5") == 0);
  CHECK(argz_replace(&list, &size, "o", "00", &replaced) == 0 && replaced == 3);
  argz_delete(&list, &size, list);
  argz_stringify(list, size, ',');
  CHECK_STRING(list, "1.5,tw00,three,f00ur");
  free(list);
  list = NULL;
  size = 0;
  CHECK(envz_add(&list, &size, "A", "1") == 0 && envz_add(&list, &size, "B", NULL) == 0 &&
        envz_add(&list, &size, "A", "22") == 0);
  CHECK_STRING(envz_get(list, size, "A"), "22");
  CHECK(envz_get(list, size, "B") == NULL && envz_merge(&list, &size, "C=3", 4, 1) == 0);
  envz_strip(&list, &size);
  envz_remove(&list, &size, "A");
  CHECK(argz_count(list, size) == 1 && strcmp(list, "C=3") == 0);
  envz_remove(&list, &size, "C");
  CHECK(list == NULL && size == 0);
}

static void from_wide_streams(void) {
  wchar_t* text = NULL;
  size_t size = 0;
  FILE* stream = open_wmemstream(&text, &size);
  CHECK(fwprintf(stream, L"%d", 12345) == 5 && fflush(stream) == 0 && size == 5 &&
        wcscmp(text, L"12345") == 0);
  for (int i = 0; i < 2000; i++) CHECK(fputwc(0x20ac, stream) == 0x20ac);
  CHECK(fclose(stream) == 0 && size == 2005 && text[2004] == 0x20ac && text[2005] == 0);
  free(text);
}

static void from_others(void) {
  regex_t expression;
  CHECK(regcomp(&expression, "a(b+)c", REG_EXTENDED) == 0 && regexec(&expression, "xabbc", 0, NULL, 0) == 0);
  regfree(&expression);
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *address;
  CHECK(getaddrinfo("127.0.0.1", NULL, &hints, &address) == 0);
  freeaddrinfo(address);
}

static void by_size(void) {
  void *aligned = NULL, *block = malloc(100);
  CHECK(posix_memalign(&aligned, 4096, 100) == 0 && (uintptr_t)aligned % 4096 == 0);
  CHECK(malloc_usable_size(block) >= 100);
  free(aligned);
  free(block);
  aligned = aligned_alloc(256, 512);
  CHECK((uintptr_t)aligned % 256 == 0);
  free(aligned);
  char* zero = calloc(1000, 100);
  for (int i = 0; i < 100000; i += 997) CHECK(zero[i] == 0);
  free(zero);
}

static void* in_thread(void* kept) {
  for (int i = 0; i < 1000; i++) free(malloc((size_t)(i * 7)));
  free(kept); /* of the main thread's */
  return malloc(77);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char name[32];
  snprintf(name, sizeof name, "handed_%d.txt", world_rank);
  FILE* file = fopen(name, "w");
  fputs("first\nsecond\n", file);
  fclose(file);
  void* kept[50];
  for (int round = 0; round < 50; round++) {
    if (round % 10 == 0) next_step();
    kept[round] = malloc((size_t)(100 + round * 1000));
    memset(kept[round], world_rank, (size_t)(100 + round * 1000));
    from_strings();
    from_files(name);
    from_streams();
    from_scanning(name);
    from_lists();
    from_wide_streams();
    by_size();
  }
  from_others();
  next_step();
  for (int round = 0; round < 50; round++) {
    const unsigned char* bytes = kept[round];
    for (int i = 0; i < 100 + round * 1000; i += 99) CHECK_EQ(bytes[i], world_rank);
    if (round > 0) free(kept[round]);
  }
  pthread_t thread;
  void* block;
  CHECK_EQ(pthread_create(&thread, NULL, in_thread, kept[0]), 0);
  CHECK_EQ(pthread_join(thread, &block), 0);
  free(block);
  next_step();
  unlink(name);
#ifdef OWN_MALLOC
  CHECK(own_blocks > 0);
#endif
#ifdef MALLOCATOR
  CHECK(MALLOCATOR); /* that it is the one which is meant */
#endif
  return end_with(world_rank);
}
