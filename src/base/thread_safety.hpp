// Thread safety: what a lock guards, and what only who has a role may touch, in words that clang checks
// (-Wthread-safety; test style/thread_safety). Other compilers see nothing.
#pragma once

#if defined(__clang__)
#define TMPI_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define TMPI_THREAD_SAFETY(attribute)
#endif

/// Of a class: a lock, or a role (`kind` is a word for messages); one whose objects hold a lock as long as they live.
#define TMPI_CAPABILITY(kind) TMPI_THREAD_SAFETY(capability(kind))
#define TMPI_SCOPED_CAPABILITY TMPI_THREAD_SAFETY(scoped_lockable)
/// Of a member: only who has the lock or the role touches it.
#define TMPI_GUARDED_BY(what) TMPI_THREAD_SAFETY(guarded_by(what))
/// Of a function: called by who has it; takes it; gives it back; has been told that the caller has it.
#define TMPI_REQUIRES(...) TMPI_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define TMPI_ACQUIRE(...) TMPI_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define TMPI_RELEASE(...) TMPI_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define TMPI_TRY_ACQUIRE(...) TMPI_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define TMPI_ASSERTS(...) TMPI_THREAD_SAFETY(assert_capability(__VA_ARGS__))
/// Of a function whose way to take and give back depends on what only runs show.
#define TMPI_UNCHECKED TMPI_THREAD_SAFETY(no_thread_safety_analysis)

namespace tmpi {

/// A capability that is no lock: to be the thread that something belongs to. Nothing at run time.
class TMPI_CAPABILITY("role") Role {
 public:
  /// From here on the caller has it: its own caller's contract says so.
  void assume() const noexcept TMPI_ASSERTS(this) {}
};

}  // namespace tmpi
