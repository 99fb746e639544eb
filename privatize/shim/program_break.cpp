// The program break: an area of the rank's own. The process's is libc's heap's, and to move it is two steps, between
// which another rank's allocator may do the same.
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// Address space only, until the break is moved. Allocators that find no room here go on with mmap.
constexpr size_t kReserved = size_t{1} << 30;

// All zeros at first, as memory is that takes no place in the file.
struct {
  char *begin, *end;  // of the area; null: not asked for yet
  char* current;      // the break
  char* accessible;   // what lies below can be read and written
} area;

char* rounded_up(char* address) noexcept {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(address) + page - 1) / page * page);
}

bool has_area() noexcept {
  if (area.begin != nullptr) return true;
  void* const begin = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return false;
  area.begin = area.current = area.accessible = static_cast<char*>(begin);
  area.end = area.begin + kReserved;
  return true;
}

/// What lies above a break that has come down is zero when it is there again.
bool give_back(char* from) noexcept {
  const auto bytes = static_cast<size_t>(area.accessible - from);
  if (mmap(from, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    return false;
  area.accessible = from;
  return true;
}

bool move_to(char* wanted) noexcept {
  char* const top = rounded_up(wanted);
  if (top > area.accessible) {
    if (mprotect(area.accessible, static_cast<size_t>(top - area.accessible), PROT_READ | PROT_WRITE) != 0)
      return false;
    area.accessible = top;
  } else if (top < area.accessible && !give_back(top)) {
    return false;
  }
  area.current = wanted;
  return true;
}

}  // namespace

extern "C" {

int brk(void* wanted) noexcept {
  auto* const address = static_cast<char*>(wanted);
  if (has_area() && address >= area.begin && address <= area.end && move_to(address)) return 0;
  errno = ENOMEM;
  return -1;
}

void* sbrk(intptr_t increment) noexcept {
  if (has_area() && increment <= area.end - area.current && increment >= area.begin - area.current) {
    char* const before = area.current;
    if (increment == 0 || move_to(before + increment)) return before;
  }
  errno = ENOMEM;
  return reinterpret_cast<void*>(-1);
}

void* __sbrk(intptr_t increment) noexcept {
  return sbrk(increment);
}

}  // extern "C"
