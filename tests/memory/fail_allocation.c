// Preloaded into a process of tmpi: the n-th allocation of tmpi's own code finds no memory.
//
//   TMPI_FAIL_PROCESS  name of the executable to act in
//   TMPI_FAIL_AT       which one fails, counted from 1; 0: none, they are only counted
//   TMPI_FAIL_FOREVER  if set, all that follow fail, too
//   TMPI_FAIL_COUNTER  a file of 16 bytes: how many there have been, and how many have failed
//   TMPI_FAIL_SPARED   name of the program whose own allocations do not count
//   TMPI_FAIL_TRACE    if set, the stack of the one that fails goes to stderr
//
// An allocation is tmpi's if the function that asks is tmpi's or in the C++ libraries. These ask on behalf of tmpi
// only, since programs under test are written in C. What others do without memory (libc, hwloc) is their affair.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char* program_invocation_short_name;
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static struct counter { atomic_long seen, failed; } own_counter, *counter = &own_counter;
static long fail_at;
static int active, forever, trace;
static const char* spared;

// Ranges of addresses whose verdict is known. Read without a lock up to `ranges_known`.
static struct range {
  uintptr_t begin, end;
  int ours;
} ranges[4096];
static atomic_int ranges_known;
static atomic_flag learning = ATOMIC_FLAG_INIT;

static void* map_memory(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  return (void*)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

__attribute__((constructor)) static void begin(void) {
  const char* process = getenv("TMPI_FAIL_PROCESS");
  if (process == NULL || strcmp(process, program_invocation_short_name) != 0) return;
  const char* text = getenv("TMPI_FAIL_AT");
  fail_at = text != NULL ? atol(text) : 0;
  forever = getenv("TMPI_FAIL_FOREVER") != NULL;
  trace = getenv("TMPI_FAIL_TRACE") != NULL;
  spared = getenv("TMPI_FAIL_SPARED");
  const char* file = getenv("TMPI_FAIL_COUNTER");
  const int fd = file != NULL ? open(file, O_RDWR | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void* shared = map_memory(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED) counter = shared;
    close(fd);
  }
  if (trace) {
    void* first[4];
    backtrace(first, 4);  // loads what it needs
  }
  active = 1;
}

// One line of /proc/self/maps: is the file's code tmpi's?
static int is_ours(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash != NULL ? slash + 1 : path;
  static const char* const ours[] = {"tmpi", "libtmpi", "libstdc++.so", "libfmt.so"};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i) {
    if (strncmp(name, ours[i], strlen(ours[i])) == 0) return spared == NULL || strcmp(name, spared) != 0;
  }
  return 0;
}

static int learn(uintptr_t caller) {
  static char text[1 << 20];
  while (atomic_flag_test_and_set_explicit(&learning, memory_order_acquire)) {
  }
  int ours = 0;
  size_t size = 0;
  const int fd = (int)syscall(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  for (ssize_t got; fd >= 0 && (got = syscall(SYS_read, fd, text + size, sizeof text - 1 - size)) > 0;)
    size += (size_t)got;
  syscall(SYS_close, fd);
  text[size] = '\0';
  for (char* line = text; *line != '\0';) {
    char* end = strchr(line, '\n');
    if (end == NULL) break;
    *end = '\0';
    char* rest;
    const uintptr_t first = strtoul(line, &rest, 16), last = strtoul(rest + 1, &rest, 16);
    if (caller >= first && caller < last) {
      const char* path = strpbrk(rest + 1, "/[");
      ours = path != NULL && is_ours(path);
      const int place = atomic_load_explicit(&ranges_known, memory_order_relaxed);
      if (place < (int)(sizeof ranges / sizeof *ranges)) {
        ranges[place] = (struct range){first, last, ours};
        atomic_store_explicit(&ranges_known, place + 1, memory_order_release);
      }
      break;
    }
    line = end + 1;
  }
  atomic_flag_clear_explicit(&learning, memory_order_release);
  return ours;
}

static int counts(uintptr_t caller) {
  const int known = atomic_load_explicit(&ranges_known, memory_order_acquire);
  for (int i = 0; i < known; ++i) {
    if (caller >= ranges[i].begin && caller < ranges[i].end) return ranges[i].ours;
  }
  return learn(caller);
}

static void show(void) {
  static __thread int showing;
  if (!trace || showing) return;
  showing = 1;
  void* frames[48];
  const char head[] = "---- no memory here:\n";
  write(2, head, sizeof head - 1);
  backtrace_symbols_fd(frames, backtrace(frames, 48), 2);
  showing = 0;
}

static int fails(void* caller) {
  if (!active || !counts((uintptr_t)caller)) return 0;
  const long number = atomic_fetch_add(&counter->seen, 1) + 1;
  if (fail_at == 0 || (forever ? number < fail_at : number != fail_at)) return 0;
  if (atomic_fetch_add(&counter->failed, 1) == 0) show();
  errno = ENOMEM;
  return 1;
}

// For programs that choose themselves: the n-th allocation from now on fails (0: none). Returns how many have
// failed since the last call.
long tmpi_test_fail_after(long n) {
  const long failed = atomic_exchange(&counter->failed, 0);
  fail_at = n > 0 ? atomic_load(&counter->seen) + n : 0;
  return failed;
}

#define CALLER __builtin_return_address(0)

void* malloc(size_t size) {
  return fails(CALLER) ? NULL : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return fails(CALLER) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return fails(CALLER) ? NULL : __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  return fails(CALLER) ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return fails(CALLER) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** place, size_t alignment, size_t size) {
  if (fails(CALLER)) return ENOMEM;
  void* memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *place = memory;
  return 0;
}
void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  return fails(CALLER) ? MAP_FAILED : map_memory(address, size, protection, flags, fd, offset);
}
void* mmap64(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  return fails(CALLER) ? MAP_FAILED : map_memory(address, size, protection, flags, fd, offset);
}
