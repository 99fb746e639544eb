// exit(3) and its lists for a rank without the shim (tests of the loader alone): per rank, without stdio.
#pragma once

namespace tmpi::privatize {

/// Runs the calling rank's exit handlers, then its destructors, then ends it (tmpi_rank_exited).
[[noreturn]] void fallback_exit(int code) noexcept;
extern "C" int tmpi_fallback_cxa_atexit(void (*function)(void*), void* argument, void* object);
extern "C" int tmpi_fallback_atexit(void (*function)());
extern "C" int tmpi_fallback_cxa_thread_atexit(void (*function)(void*), void* argument, void* object);
extern "C" void tmpi_fallback_cxa_finalize(void* object);

}  // namespace tmpi::privatize
