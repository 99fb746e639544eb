// libc's own versions of functions that the shim defines too. A call by name from inside the shim would reach
// the shim again; this table lives in the node process's executable, whose names bind to libc. Constant data:
// it costs a rank nothing.
#pragma once

#include <aliases.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <execinfo.h>
#include <grp.h>
#include <gshadow.h>
#include <locale.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <pwd.h>
#include <shadow.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>

extern "C" void __chk_fail() __attribute__((noreturn));
extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);
extern "C" int __vasprintf_chk(char**, int, const char*, va_list) noexcept;
// scanf as C99 has it, and as it was before; headers turn the latter's names into the former's.
extern "C" int __isoc99_vfscanf(FILE*, const char*, va_list);
extern "C" int __isoc99_vsscanf(const char*, const char*, va_list);
extern "C" int tmpi_old_vfscanf(FILE*, const char*, va_list) __asm__("vfscanf");
extern "C" int tmpi_old_vsscanf(const char*, const char*, va_list) __asm__("vsscanf");
#if __GLIBC_PREREQ(2, 38)
extern "C" int __isoc23_vfscanf(FILE*, const char*, va_list);
extern "C" int __isoc23_vsscanf(const char*, const char*, va_list);
#define TMPI_C23_ORIGINALS(X) X(__isoc23_vfscanf) X(__isoc23_vsscanf)
#else
#define TMPI_C23_ORIGINALS(X)
#endif

// What fclose and freopen are made of.
extern "C" int _IO_file_close_it(FILE*) noexcept;
extern "C" void _IO_free_backup_area(FILE*) noexcept;

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
  X(timer_delete) \
  X(setpwent) X(getpwent_r) X(setgrent) X(getgrent_r) X(setspent) X(getspent_r) X(setsgent) X(getsgent_r) \
  X(sethostent) X(gethostent_r) X(setnetent) X(getnetent_r) X(setservent) X(getservent_r) X(setprotoent) \
  X(getprotoent_r) X(setrpcent) X(getrpcent_r) X(setaliasent) X(getaliasent_r) X(cuserid) X(mbrlen) X(mbrtowc) \
  X(wcrtomb) X(mbsrtowcs) X(mbsnrtowcs) X(wcsrtombs) X(wcsnrtombs) X(mbrtoc16) X(mbrtoc32) X(c16rtomb) \
  X(c32rtomb) X(mbrtoc8) X(c8rtomb) X(mbtowc) \
  X(getpwnam_r) X(getpwuid_r) X(fgetpwent_r) X(getgrnam_r) X(getgrgid_r) X(fgetgrent_r) X(getspnam_r) \
  X(fgetspent_r) X(sgetspent_r) X(getsgnam_r) X(fgetsgent_r) X(sgetsgent_r) X(gethostbyname_r) \
  X(gethostbyname2_r) X(gethostbyaddr_r) X(getnetbyname_r) X(getnetbyaddr_r) X(getservbyname_r) \
  X(getservbyport_r) X(getprotobyname_r) X(getprotobynumber_r) X(getrpcbyname_r) X(getrpcbynumber_r) \
  X(getaliasbyname_r) X(getmntent_r) X(inet_ntop) X(ether_ntoa_r) X(ether_aton_r) X(ttyname_r) X(ptsname_r) \
  X(getlogin_r) X(ecvt_r) X(fcvt_r) X(qecvt_r) X(qfcvt_r) X(umask) X(newlocale) X(freelocale) \
  X(__ctype_get_mb_cur_max) X(__h_errno_location) X(__chk_fail) X(fork) X(_Fork) X(close_range) \
  X(malloc) X(free) X(vasprintf) X(__vasprintf_chk) X(open_memstream) \
  X(get_current_dir_name) X(scandir) X(scandirat) X(scandir64) X(scandirat64) X(backtrace_symbols) X(realpath) \
  X(open_wmemstream) X(_IO_file_close_it) X(_IO_free_backup_area) X(__isoc99_vfscanf) X(__isoc99_vsscanf) X(tmpi_old_vfscanf) X(tmpi_old_vsscanf) \
  TMPI_C23_ORIGINALS(X)
// clang-format on

struct TmpiLibcOriginals {
#define TMPI_LIBC_MEMBER(name) decltype(&::name) name;
  TMPI_LIBC_ORIGINALS(TMPI_LIBC_MEMBER)
#undef TMPI_LIBC_MEMBER
};

extern "C" __attribute__((visibility("default"))) const TmpiLibcOriginals tmpi_libc;
