// Whether this is compiled for a sanitizer. Unit tests, which take ten times as long there and more, repeat
// themselves less often then; product code has no business to know.
#pragma once

#include <cstdlib>

namespace tmpi {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Flows of control that never run at the same time show this sanitizer nothing.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif

/// Whether a test runs every variant of what it tests. ThreadSanitizer, which takes longest, sees the rest in its longer
/// tier (VARIANTS in cmake/TmpiTargets.cmake); AddressSanitizer and plain builds always do.
inline bool every_variant() noexcept {
  return !kThreadSanitized || std::getenv("TMPI_TEST_EVERY_VARIANT") != nullptr;
}

}  // namespace tmpi
