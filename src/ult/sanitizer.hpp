// What AddressSanitizer and ThreadSanitizer must be told of a switch; nothing in ordinary builds. Internal to
// ult.
#pragma once

#include "ult/switch.hpp"

#if defined(TMPI_ASAN)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(TMPI_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace tmpi::ult::sanitizer {

#if defined(TMPI_ASAN)

inline void attach(Fiber& self) noexcept {
  pthread_attr_t attributes;
  void* base = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &base, &size);
    pthread_attr_destroy(&attributes);
  }
  self.stack = {static_cast<std::byte*>(base), size};
}
inline void detach(Fiber& self) noexcept {
  self.stack = {};
}
inline void prepare(Fiber&) noexcept {}
/// A fiber may be left with live frames, whose red zones must not outlive its stack: another one may get the
/// addresses.
inline void release(Fiber& fiber) noexcept {
  if (fiber.context != nullptr) __asan_unpoison_memory_region(fiber.stack.base, fiber.stack.size);
}
/// `final`: the fiber will not come back, its fake stack may go.
inline void before_switch(Fiber& from, Fiber& to, bool final) noexcept {
  __sanitizer_start_switch_fiber(final ? nullptr : &from.fake_stack, to.stack.base, to.stack.size);
}
inline void after_switch(Fiber& self) noexcept {
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
}

#elif defined(TMPI_TSAN)

inline void attach(Fiber& self) noexcept {
  self.tsan_fiber = __tsan_get_current_fiber();
}
inline void detach(Fiber& self) noexcept {
  self.tsan_fiber = nullptr;
}
inline void prepare(Fiber& fiber) noexcept {
  fiber.tsan_fiber = __tsan_create_fiber(0);
}
inline void release(Fiber& fiber) noexcept {
  if (fiber.tsan_fiber != nullptr) __tsan_destroy_fiber(fiber.tsan_fiber);
  fiber.tsan_fiber = nullptr;
}
inline void before_switch(Fiber&, Fiber& to, bool) noexcept {
  __tsan_switch_to_fiber(to.tsan_fiber, 0);
}
inline void after_switch(Fiber&) noexcept {}

#else

inline void attach(Fiber&) noexcept {}
inline void detach(Fiber&) noexcept {}
inline void prepare(Fiber&) noexcept {}
inline void release(Fiber&) noexcept {}
inline void before_switch(Fiber&, Fiber&, bool) noexcept {}
inline void after_switch(Fiber&) noexcept {}

#endif

}  // namespace tmpi::ult::sanitizer
