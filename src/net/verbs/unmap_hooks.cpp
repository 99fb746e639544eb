#include "net/verbs/unmap_hooks.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/platform.hpp"
#include "base/sanitized.hpp"

namespace tmpi::net::verbs {
namespace {

alignas(kCacheLine) std::atomic<int> g_under_way{0};
std::atomic<std::uint64_t> g_untold{0};
std::atomic<bool> g_hooked{false};
void** g_break = nullptr;  // the C library's end of the heap

class Announced {
 public:
  explicit Announced(bool really = true) noexcept : really_(really) {
    if (really_) g_under_way.fetch_add(1, std::memory_order_seq_cst);  // pairs with announced_unmappings()
  }
  ~Announced() {
    if (really_) g_under_way.fetch_sub(1, std::memory_order_release);
  }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;

 private:
  const bool really_;
};

// Of segments of System V the system tells nobody.
class Untold {
 public:
  explicit Untold(bool really = true) noexcept : really_(really) { count(); }
  ~Untold() { count(); }  // what has been looked up since the call began does not count
  Untold(const Untold&) = delete;
  Untold& operator=(const Untold&) = delete;

 private:
  void count() const noexcept {
    if (really_) g_untold.fetch_add(1, std::memory_order_seq_cst);  // pairs with untold_unmappings()
  }
  const bool really_;
};

// --- what the C library's functions do

template <class... Arguments>
long call_system(long number, Arguments... arguments) noexcept {
  const std::array<long, 6> all{(long)arguments...};
  register long r10 __asm__("r10") = all[3];
  register long r8 __asm__("r8") = all[4];
  register long r9 __asm__("r9") = all[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(all[0]), "S"(all[1]), "d"(all[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

long with_errno(long result) noexcept {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

int unmap(void* address, std::size_t bytes) noexcept {
  const Announced announced;
  return static_cast<int>(with_errno(call_system(SYS_munmap, address, bytes)));
}

void* remap(void* address, std::size_t before, std::size_t bytes, int flags, void* to) noexcept {
  const Announced announced;
  return reinterpret_cast<void*>(with_errno(call_system(SYS_mremap, address, before, bytes, flags, to)));
}

void* map(void* address, std::size_t bytes, int protection, int flags, int fd, std::int64_t offset) noexcept {
  const Announced announced((flags & MAP_FIXED) != 0);
  return reinterpret_cast<void*>(
      with_errno(call_system(SYS_mmap, address, bytes, protection, flags, fd, offset)));
}

int advise(void* address, std::size_t bytes, int advice) noexcept {
  const Announced announced;
  return static_cast<int>(with_errno(call_system(SYS_madvise, address, bytes, advice)));
}

int set_break(void* end) noexcept {
  const Announced announced;
  *g_break = reinterpret_cast<void*>(call_system(SYS_brk, end));
  if (*g_break >= end) return 0;
  errno = ENOMEM;
  return -1;
}

void* attach_segment(int id, const void* address, int flags) noexcept {
  const Untold untold((flags & SHM_REMAP) != 0);
  return reinterpret_cast<void*>(with_errno(call_system(SYS_shmat, id, address, flags)));
}

int detach_segment(const void* address) noexcept {
  const Untold untold;
  return static_cast<int>(with_errno(call_system(SYS_shmdt, address)));
}

// --- in their place

// movabs $target, %r11; jmp *%r11: of the registers only this one is nobody's at a function's entry.
using Jump = std::array<unsigned char, 13>;

Jump jump_to(const void* target) noexcept {
  Jump jump{0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xe3};
  std::memcpy(jump.data() + 2, &target, sizeof target);
  return jump;
}

struct Hook {
  const char* name;
  const void* ours;
  unsigned char* theirs = nullptr;
};

// The function's code has room for a jump.
bool find(void* library, Hook& hook) noexcept {
  void* const found = dlsym(library, hook.name);
  Dl_info where;
  void* symbol = nullptr;
  if (found == nullptr || dladdr1(found, &where, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr)
    return false;
  hook.theirs = static_cast<unsigned char*>(found);
  return where.dli_saddr == found && static_cast<const ElfW(Sym)*>(symbol)->st_size >= sizeof(Jump);
}

bool set_protection(const Hook& hook, int protection) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(hook.theirs);
  const std::uintptr_t begin = at & ~(kPageSize - 1), end = at + sizeof(Jump);
  return mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

bool replace(const Hook& hook) noexcept {
  if (!set_protection(hook, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  const Jump jump = jump_to(hook.ours);
  std::memcpy(hook.theirs, jump.data(), sizeof jump);
  set_protection(hook, PROT_READ | PROT_EXEC);
  return true;
}

}  // namespace

bool hook_unmappings() noexcept {
  if (unmappings_are_announced()) return true;
  // A thread could be inside what is replaced. (A sanitizer watches these functions itself.)
  if (kSanitized || __libc_single_threaded == 0) return false;
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  std::array<Hook, 7> hooks{{{"munmap", reinterpret_cast<const void*>(&unmap)},
                             {"mremap", reinterpret_cast<const void*>(&remap)},
                             {"mmap", reinterpret_cast<const void*>(&map)},
                             {"madvise", reinterpret_cast<const void*>(&advise)},
                             {"brk", reinterpret_cast<const void*>(&set_break)},
                             {"shmat", reinterpret_cast<const void*>(&attach_segment)},
                             {"shmdt", reinterpret_cast<const void*>(&detach_segment)}}};
  bool all = true;
  for (Hook& hook : hooks) all = all && find(library, hook);
  g_break = static_cast<void**>(dlsym(library, "__curbrk"));
  dlclose(library);
  if (!all || g_break == nullptr) return false;
  for (const Hook& hook : hooks)
    if (!replace(hook)) return false;  // those that have been replaced do what they did
  g_hooked.store(true, std::memory_order_release);
  return true;
}

bool unmappings_are_announced() noexcept {
  return g_hooked.load(std::memory_order_relaxed);
}

// The dynamic linker, whose system calls are its own, tells debuggers when it begins to map and unmap objects, and when
// it has ended (<link.h>).
bool unmapping_is_announced() noexcept {
  return g_under_way.load(std::memory_order_seq_cst) != 0 ||
         __atomic_load_n(&_r_debug.r_state, __ATOMIC_SEQ_CST) != r_debug::RT_CONSISTENT;
}

std::uint64_t untold_unmappings() noexcept {
  return g_untold.load(std::memory_order_seq_cst);
}

}  // namespace tmpi::net::verbs
