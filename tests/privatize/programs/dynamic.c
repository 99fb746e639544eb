/* dlopen, dlsym, dladdr inside a rank. argv[1..3]: libraries of the user. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

int program_value = 5;
int from_program(int x) {
  return x + program_value;
}
static void local_function(void) {}

int main(int argc, char** argv) {
  const int rank = test_rank();
  Dl_info info;
  CHECK(argc == 4);
  program_value += rank;
  CHECK(dladdr((void*)main, &info) != 0 && strstr(info.dli_fname, "dynamic") != NULL &&
        strcmp(info.dli_sname, "main") == 0);
  CHECK(info.dli_saddr == (void*)main && dladdr((void*)local_function, &info) != 0);
  CHECK(dladdr((void*)&getpagesize, &info) != 0 && strstr(info.dli_fname, "libc") != NULL);
  CHECK(dlsym(RTLD_DEFAULT, "program_value") == &program_value);
  CHECK(dlsym(RTLD_NEXT, "program_value") == NULL && dlerror() != NULL && dlerror() == NULL);
  CHECK(dlsym(RTLD_NEXT, "malloc") == (void*)malloc);
  void* self = dlopen(NULL, RTLD_NOW);
  CHECK(self != NULL && dlsym(self, "from_program") == (void*)from_program && dlsym(self, "strlen") != NULL);
  CHECK(dlopen("/nowhere/libnothing.so", RTLD_NOW) == NULL && strstr(dlerror(), "libnothing") != NULL);
  void* math = dlopen("libm.so.6", RTLD_NOW);
  double (*cosine)(double) = (double (*)(double))dlsym(math, "cos");
  CHECK(cosine != NULL && cosine(0) == 1 && dlclose(math) == 0);
  test_yield();
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin != NULL);
  if (plugin == NULL) return 1;
  CHECK(dlopen(argv[1], RTLD_NOW) == plugin);
  int* state = dlsym(plugin, "plugin_state");
  int (*bump)(int) = (int (*)(int))dlsym(plugin, "plugin_bump");
  int* per_thread = dlsym(plugin, "plugin_thread_local");
  int* constructed = dlsym(plugin, "plugin_constructed");
  int (*raise)(int) = (int (*)(int))dlsym(plugin, "plugin_catch");
  CHECK(state != NULL && bump != NULL && per_thread != NULL && *constructed == rank + 1);
  CHECK(*state == 70 && *per_thread == 80);
  CHECK(bump(rank) == 70 + rank + 6 + rank);
  test_yield();
  CHECK(*state == 70 + rank && *per_thread == 80 + rank && program_value == 6 + rank);
  CHECK(raise(rank) == rank + 1);
  CHECK(dladdr((void*)bump, &info) != 0 && strcmp(info.dli_sname, "plugin_bump") == 0);
  CHECK(dlsym(RTLD_DEFAULT, "plugin_state") == NULL);
  CHECK(dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == plugin && dlsym(RTLD_DEFAULT, "plugin_state") == state);
  CHECK(dlclose(plugin) == 0);
  /* two libraries that need the same third one: one copy of that per rank */
  void* second = dlopen(argv[2], RTLD_NOW);
  void* third = dlopen(argv[3], RTLD_LAZY);
  if (second == NULL || third == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(second != NULL && third != NULL && second != third);
  int (*add_second)(int) = (int (*)(int))dlsym(second, "plugin2_add");
  int (*add_third)(int) = (int (*)(int))dlsym(third, "plugin3_add");
  CHECK(add_second(rank) == 1000 + rank && add_third(1) == 1001 + rank);
  CHECK(dlsym(second, "helper_state") == dlsym(third, "helper_state") &&
        dlsym(second, "helper_state") != NULL);
  CHECK(dlsym(second, "helper_order") != NULL && *(int*)dlsym(second, "helper_order") == 1);
  test_yield();
  CHECK(add_second(0) == 1001 + rank);
  return 0;
}
