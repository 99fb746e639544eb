/* loads LIBRARY ...: runs main() of a library that it opens itself, as Python does with mpi4py: it does not refer to MPI. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*run)(int, char**) = NULL;
  if (library != NULL) *(void**)&run = dlsym(library, "run");
  if (run == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return run(argc - 1, argv + 1);
}
