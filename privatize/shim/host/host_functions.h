/* What the shim asks of its part that exists once per process (this folder): state that all ranks of a node
 * share and that must be told apart there. Plain C names, exported by the node process's executable. */
#ifndef TMPI_PRIVATIZE_SHIM_HOST_HOST_FUNCTIONS_H
#define TMPI_PRIVATIZE_SHIM_HOST_HOST_FUNCTIONS_H

#include <locale.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <wchar.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* The rank's handler for SIGSEGV, SIGBUS, SIGFPE or SIGILL, with the contract of sigaction(2). Raised on
 * behalf of an instruction of the rank, the signal reaches the rank's own handler only; a rank without one
 * gets what the process had before. */
int tmpi_shim_fault_action(int rank, int signal, const struct sigaction* action, struct sigaction* previous);
/* 1 for the four signals above. */
int tmpi_shim_is_fault(int signal);

/* The same for any other signal that a rank may handle: a timer's or raise()'s reaches the rank it is for, one
 * that is sent to the process every rank that has a handler (privatize/rank_signals.hpp). */
int tmpi_shim_signal_action(int rank, int signal, const struct sigaction* action, struct sigaction* previous);
/* In a child that the rank has forked: the kernel's own, but what the rank had set is `previous`. */
int tmpi_shim_child_signal_action(int rank, int signal, const struct sigaction* action,
                                  struct sigaction* previous);
/* pthread_sigmask(3) of the calling thread: of the rank's own flow for the rank alone. */
int tmpi_shim_sigmask(int rank, int how, const sigset_t* set, sigset_t* previous);
/* How many handlers of the rank have run so far. */
unsigned tmpi_shim_signals_delivered(int rank);
/* kill(2) and sigqueue(3) in a rank, or in a child that it has made: `process` may be a rank's id (rank_pid.hpp). */
int tmpi_shim_kill(pid_t process, int signal);
int tmpi_shim_sigqueue(pid_t process, int signal, union sigval value);
/* The rank has made a child (privatize/children.hpp). */
void tmpi_shim_add_child(int rank, pid_t child);
/* 1 for signals that are the process's own affair, or none at all. */
int tmpi_shim_is_shared_signal(int signal);

/* A rank's own timers, with the contracts of setitimer(2), getitimer(2), timer_create(2) and timer_delete(2).
 * They count time for the rank alone; ITIMER_VIRTUAL and ITIMER_PROF count that of the rank's worker. */
int tmpi_shim_setitimer(int rank, int which, const struct itimerval* value, struct itimerval* old);
int tmpi_shim_getitimer(int rank, int which, struct itimerval* value);
int tmpi_shim_timer_create(int rank, clockid_t clock, struct sigevent* event, timer_t* timer);
int tmpi_shim_timer_delete(int rank, timer_t timer);

/* chdir(2) to `path`, or fchdir(2) to `fd` if that is null, for the calling rank alone. 1, with errno: the threads
 * of the process cannot have directories of their own, and all of them have moved. */
int tmpi_shim_chdir(int rank, const char* path, int fd);
/* umask(2) for the calling rank alone. */
mode_t tmpi_shim_umask(int rank, mode_t mask);

/* The entry that comes after the first `position` ones of a database of libc, in which libc has one position for the
 * process: `rewind` is its setpwent, `get` its getpwent_r with the caller's arguments, called again until it has come
 * there. Returns what `get` returns. */
enum TmpiDatabase {
  TMPI_USERS,
  TMPI_GROUPS,
  TMPI_SHADOW,
  TMPI_GROUP_SHADOW,
  TMPI_HOSTS,
  TMPI_NETS,
  TMPI_PORTS,
  TMPI_PROTOCOLS,
  TMPI_PROGRAMS,
  TMPI_ALIASES,
  TMPI_DATABASES
};
int tmpi_shim_next_entry(int rank, enum TmpiDatabase database, long position, void (*rewind)(void),
                         int (*get)(void*), void* context);

/* One message to the system's log; `identity` as openlog(3) has it, `priority` with the facility. */
void tmpi_shim_log(const char* identity, int options, int priority, const char* message);

/* pthread_atfork(3) for forks of the rank alone. */
int tmpi_shim_atfork(int rank, void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* setlocale(3) for the rank alone, to `name`, which is not empty, or null as there; the text lives for ever. uselocale(3)
 * of the calling thread, in which LC_GLOBAL_LOCALE is what the rank has set; duplocale(3) of that. localeconv(3), copied. */
const char* tmpi_shim_setlocale(int rank, int category, const char* name);
locale_t tmpi_shim_uselocale(int rank, locale_t locale);
locale_t tmpi_shim_duplocale(int rank, locale_t locale);
void tmpi_shim_localeconv(struct lconv* result);

/* A rank's time zone: what TZ says in its environment (null: nothing), and by what the functions below fill in, what
 * tzname, timezone and daylight are then. They have the contracts of their namesakes; a locale may be null. */
struct TmpiZone {
  const char* setting;
  char* names[2];
  long west;
  int daylight;
};
void tmpi_shim_tzset(struct TmpiZone* zone);
struct tm* tmpi_shim_localtime(struct TmpiZone* zone, const time_t* when, struct tm* fields);
time_t tmpi_shim_mktime(struct TmpiZone* zone, struct tm* fields);
size_t tmpi_shim_strftime(struct TmpiZone* zone, char* text, size_t size, const char* format,
                          const struct tm* fields, locale_t locale);
size_t tmpi_shim_wcsftime(struct TmpiZone* zone, wchar_t* text, size_t size, const wchar_t* format,
                          const struct tm* fields, locale_t locale);
char* tmpi_shim_strptime(struct TmpiZone* zone, const char* text, const char* format, struct tm* fields,
                         locale_t locale);
int tmpi_shim_getdate(struct TmpiZone* zone, const char* text, struct tm* fields);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
