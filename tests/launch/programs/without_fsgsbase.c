// Preloaded: a kernel or a processor without the instruction that sets the thread pointer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type) {
  static unsigned long (*next)(unsigned long);
  if (next == NULL) next = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
  return type == AT_HWCAP2 ? next(type) & ~2UL : next(type);
}
