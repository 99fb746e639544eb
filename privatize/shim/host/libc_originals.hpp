// libc's own versions of functions that the shim defines too. A call by name from inside the shim would reach
// the shim again; this table lives in the node process's executable, whose names bind to libc. Constant data:
// it costs a rank nothing.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);

// It would fold this list anew each time it runs.
// clang-format off
#define TMPI_LIBC_ORIGINALS(X) \
  X(fopen) X(fopen64) X(fdopen) X(freopen) X(freopen64) X(tmpfile) X(tmpfile64) X(fclose) X(fflush) \
  X(fflush_unlocked) X(fileno) X(fileno_unlocked) X(fwide) X(fputwc) X(fputwc_unlocked) X(fputws) \
  X(fputws_unlocked) X(vfwprintf) X(vfwscanf) X(fgetwc) X(fgetwc_unlocked) X(fgetws) \
  X(fgetws_unlocked) X(ungetwc) X(write) X(read) X(writev) X(readv) X(vdprintf) X(close) X(dup) \
  X(dup2) X(dup3) X(isatty) X(lseek) X(fstat) X(fstat64) X(_exit) X(abort) X(pthread_exit) \
  X(__cxa_thread_atexit_impl) X(execve) X(execvpe) X(fexecve) X(execveat) X(chdir) X(fchdir) X(getcwd) X(pclose) \
  X(strsignal) X(sigaction) X(sigaltstack) X(alarm) X(setitimer) X(getitimer) X(timer_create) \
  X(timer_delete) X(kill)
// clang-format on

struct TmpiLibcOriginals {
#define TMPI_LIBC_MEMBER(name) decltype(&::name) name;
  TMPI_LIBC_ORIGINALS(TMPI_LIBC_MEMBER)
#undef TMPI_LIBC_MEMBER
};

extern "C" __attribute__((visibility("default"))) const TmpiLibcOriginals tmpi_libc;
