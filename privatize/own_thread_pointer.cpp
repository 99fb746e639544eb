#include "privatize/own_thread_pointer.hpp"

#include <dlfcn.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include "base/of_thread.hpp"
#include "base/platform.hpp"
#include "privatize/object.hpp"
#include "privatize/static_tls_pool.hpp"
#include "privatize/thread_context.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::privatize {
namespace {

constexpr std::size_t kStack =
    1 << 20;  // beside the thread control block and all static thread-locals; hardly touched

void wait_while(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  while (word.load(std::memory_order_acquire) == value) {
    // Not by libc's syscall(): it is a place where a thread may be cancelled, and sets errno.
    long result;
    register const void* timeout __asm__("r10") = nullptr;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(&word), "S"(FUTEX_WAIT_PRIVATE), "d"(value), "r"(timeout)
                     : "rcx", "r11", "memory");
  }
}

void change(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  word.store(value, std::memory_order_release);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Where in a thread control block libc keeps the kernel's number of the thread: as it tells debuggers (libthread_db); 0:
/// it does not say.
std::size_t place_of_thread_id() noexcept {
  static const std::size_t place = [] {
    const auto* field = static_cast<const std::uint32_t*>(dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid"));
    if (field == nullptr) return std::size_t{0};
    const std::size_t at = field[2];  // bits, how many, where
    int value = 0;
    if (field[0] == 8 * sizeof value && at < kPage)
      std::memcpy(&value, reinterpret_cast<const std::byte*>(thread_pointer()) + at, sizeof value);
    return value == gettid() ? at : std::size_t{0};
  }();
  return place;
}

/// The kernel notes the core on which a thread runs in its control block (restartable sequences). It will not for the
/// calling one, whose block this is: what asks there, as sched_getcpu does, learns that nothing is known, and asks the kernel.
void stop_noting_core(std::byte* block) noexcept {
  static const auto* const offset = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  static const auto* const used = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"));
  if (offset == nullptr || used == nullptr || *used == 0) return;
  constexpr std::uint64_t kSmallest = 32;
  constexpr unsigned long kFeatureSize = 27, kAlignment = 28;  // AT_RSEQ_*, newer than some headers
  constexpr unsigned kUnregister = 1, kSignature = 0x53053053;
  const std::uint64_t alignment = std::max<std::uint64_t>(getauxval(kAlignment), kSmallest);
  const std::uint64_t size = std::max(align_up(getauxval(kFeatureSize), alignment), kSmallest);
  // It must be told the size that libc has registered: the kernel's, or, by older ones, the smallest.
  if (syscall(SYS_rseq, block + *offset, size, kUnregister, kSignature) != 0 && size != kSmallest)
    syscall(SYS_rseq, block + *offset, kSmallest, kUnregister, kSignature);
}

/// The pages of the pool that libc has cleared, and nobody needs yet.
void give_back_pool() noexcept {
  const auto begin = page_up(reinterpret_cast<std::uint64_t>(StaticTlsPool::memory()));
  const auto end = page_down(reinterpret_cast<std::uint64_t>(StaticTlsPool::memory()) + StaticTlsPool::kSize);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

Result<void> can_have_thread_pointers() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return Failure{"a node process with a sanitizer has no thread pointers for ranks"};
#else
  if (place_of_thread_id() == 0)
    return Failure{"this libc does not say where it keeps a thread's number (_thread_db_pthread_tid)"};
  if (!StaticTlsPool::ends_at_thread_pointer())
    return Failure{"the node process has been linked with its thread-locals in another order"};
  return {};
#endif
}

// All that is here stays as libc has made it for a thread that has just begun.
void OwnThreadPointer::describe() noexcept {
  std::byte* const block = reinterpret_cast<std::byte*>(thread_pointer());
  pointer_.pointer = block;
  pointer_.state = FiberState::here();
  pointer_.thread_id = reinterpret_cast<int*>(block + place_of_thread_id());
  pointer_.to_own = &to_own_thread;
  thread_id_ = *pointer_.thread_id;
}

void* OwnThreadPointer::sleep(void* self) noexcept {
  auto& own = *static_cast<OwnThreadPointer*>(self);
  pthread_setname_np(pthread_self(), "tmpi-rank-tls");
  stop_noting_core(reinterpret_cast<std::byte*>(thread_pointer()));
  give_back_pool();
  own.describe();
  change(own.state_, kReady);
  wait_while(own.state_, kReady);
  return nullptr;
}

Result<std::unique_ptr<OwnThreadPointer>> OwnThreadPointer::create() {
  std::unique_ptr<OwnThreadPointer> own(new (std::nothrow) OwnThreadPointer);
  if (own == nullptr) return Failure{"no memory for its thread pointer"};
  // No signal is for this thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_attr_setguardsize(&attributes, 0);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = create_own_thread(&own->thread_, &attributes, &OwnThreadPointer::sleep, own.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    return Failure{
        std::string("has thread-local variables that a plain compiler has linked, for which each rank "
                    "needs a thread that sleeps, and none could be made: ") +
        std::strerror(error) +
        "; check ulimit -u and the limit of the control group, or link it with tmpicc"};
  }
  wait_while(own->state_, kStarting);
  return own;
}

// The thread is a copy of the worker's, whose control block is nobody's any more: libc takes the memory for new threads.
void OwnThreadPointer::keep_in_child() noexcept {
  if (to_own_thread == 0) return;
  const int error = errno;
  detail::t_context = *std::launder(&thread_context());  // another than the one that the compiler believes
  stop_noting_core(reinterpret_cast<std::byte*>(thread_pointer()) + to_own_thread);
  to_own_thread = 0;
  errno = error;
}

OwnThreadPointer::~OwnThreadPointer() {
  if (thread_id_ == 0) return;
  *pointer_.thread_id = thread_id_;
  *pointer_.to_own = 0;
  change(state_, kOver);
  join_own_thread(thread_);
}

}  // namespace tmpi::privatize
