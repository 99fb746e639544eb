/* libcurl: its allocator belongs to the process, and so does what curl_global_init sets up and curl_global_cleanup ends. */
#include <curl/curl.h>

#include "steps.h"

static long blocks; /* that curl holds in this rank */
static void* my_malloc(size_t bytes) {
  blocks++;
  return malloc(bytes);
}
static void my_free(void* block) {
  blocks -= block != NULL;
  free(block);
}
static void* my_realloc(void* block, size_t bytes) {
  blocks += block == NULL;
  return realloc(block, bytes);
}
static char* my_strdup(const char* text) {
  blocks++;
  return strdup(text);
}
static void* my_calloc(size_t count, size_t bytes) {
  blocks++;
  return calloc(count, bytes);
}

static size_t add(char* bytes, size_t size, size_t count, void* sum) {
  for (size_t i = 0; i < size * count; i++) *(double*)sum += bytes[i];
  return size * count;
}

static double fetch(const char* url) {
  double sum = 0;
  CURL* handle = curl_easy_init();
  CHECK(handle != NULL && blocks > 0);
  CHECK_EQ(curl_easy_setopt(handle, CURLOPT_URL, url), CURLE_OK);
  CHECK_EQ(curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, add), CURLE_OK);
  CHECK_EQ(curl_easy_setopt(handle, CURLOPT_WRITEDATA, &sum), CURLE_OK);
  next_step();
  CHECK_EQ(curl_easy_perform(handle), CURLE_OK);
  next_step();
  curl_easy_cleanup(handle);
  return sum;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_EQ(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, my_realloc, my_strdup, my_calloc),
           CURLE_OK);
  char here[400], name[500], url[520];
  CHECK(getcwd(here, sizeof here) != NULL);
  snprintf(name, sizeof name, "%s/curl_%d.txt", here, world_rank);
  snprintf(url, sizeof url, "file://%s", name);
  FILE* file = fopen(name, "w");
  double want = 0;
  for (int i = 0; i < 5000; i++) {
    int letter = 'a' + (i + world_rank) % 26;
    fputc(letter, file);
    want += letter;
  }
  fclose(file);
  for (int round = 0; round < 4; round++) {
    next_step();
    CHECK_NEAR(fetch(url), want, 0);
  }
  next_step();
  if (world_rank % 2) curl_global_cleanup(); /* ends here, for this rank */
  next_step();
  if (world_rank % 2) {
    CHECK_EQ(blocks, 0);
    CHECK_EQ(curl_global_init_mem(CURL_GLOBAL_ALL, my_malloc, my_free, my_realloc, my_strdup, my_calloc),
             CURLE_OK);
  }
  CHECK_NEAR(fetch(url), want, 0);
  curl_global_cleanup();
  CHECK_EQ(blocks, 0);
  unlink(name);
  return end_with(want);
}
