// Whether this is compiled for a sanitizer. Unit tests, which take ten times as long there and more, repeat
// themselves less often then; product code has no business to know.
#pragma once

namespace tmpi {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tmpi
