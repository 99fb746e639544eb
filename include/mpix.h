/* mpix.h: tmpi's extensions to MPI. Include it after or instead of mpi.h. */
#ifndef TMPI_MPIX_H
#define TMPI_MPIX_H

#include "mpi.h"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#if defined(__cplusplus)
extern "C" {
#endif

/* Lets the other ready ranks of this worker run before the calling one continues; returns at once if there is none.
 *
 * For loops that wait for something that is not an MPI call, such as a flag set by another rank's callback: a rank that computes keeps
 * its worker until it blocks in MPI. Also drives the progress of communication. It is a scheduling point: other ranks may run, thread-locals
 * and errno of the calling rank are kept. May be called at any time between MPI_Init and MPI_Finalize, and outside as a hint
 * without effect. Returns MPI_SUCCESS. */
int MPIX_Yield(void);
int PMPIX_Yield(void);

/* ---- Load balance ----
 *
 * With tmpirun --balance ranks move between the workers (cores) of their node process, by themselves or because they ask. Moving costs
 * less than a microsecond, since all ranks of a node process share one address space. A rank stays where it is as long as it has something
 * that belongs to its core or its thread: nonblocking collectives under way, open counters (MPIX_Counter_open),
 * threads, OpenMP, a working directory of its own, or MPIX_Pin. docs/design/load-balance.md. */
#define MPIX_HAVE_BALANCE 1

/* The number of the worker on which the calling rank runs, and how many workers its node process has; either pointer may be null. Does not
 * suspend. */
int MPIX_Get_worker(int* worker, int* workers);
int PMPIX_Get_worker(int* worker, int* workers);

/* The calling rank goes on on worker `worker`, 0 <= worker < workers. A scheduling point: other ranks may run. MPI_ERR_ARG: there is no such
 * worker; MPI_ERR_UNSUPPORTED_OPERATION: the job does not balance (--balance none, or one worker), or the rank has to stay where it
 * is; MPI_ERR_NO_MEM: for messages that must be delivered first. */
int MPIX_Migrate(int worker);
int PMPIX_Migrate(int worker);

/* All ranks call it at a moment that is good for balancing, between two steps: loads are looked at, and ranks moved if that pays. Collective
 * over MPI_COMM_WORLD; whether it synchronizes is not specified. Does nothing in a job that does not measure loads. For AMPI's programs:
 * #define AMPI_Migrate(info) MPIX_Balance() */
int MPIX_Balance(void);
int PMPIX_Balance(void);

/* From now on the calling rank stays on its worker (flag other than 0), or may move again (0). */
int MPIX_Pin(int flag);
int PMPIX_Pin(int flag);

/* ---- Checkpoint and restart ----
 *
 * In a job that was started with tmpirun --migratable all ranks can be written down at a call of MPIX_Checkpoint, and a later
 * tmpirun --restart DIRECTORY lets them go on from there, on any number of nodes and cores. docs/design/checkpoint.md says what
 * is saved, and what makes it impossible. */
#define MPIX_HAVE_CHECKPOINT 1

/* Writes all ranks of the job down in `directory` (that of rank 0 counts; it is made if it is missing), as they are when this call
 * returns. Collective over MPI_COMM_WORLD; ranks wait for each other. An earlier checkpoint there is replaced when the new one is
 * complete. After a restart, too, it is this call that returns: MPIX_Restarted tells which it was.
 *
 * Fails on all ranks or on none, and the program goes on: MPI_ERR_UNSUPPORTED_OPERATION in other jobs; MPI_ERR_OTHER, with a sentence that
 * names the lowest rank in whose way something is (a pipe, a thread, a child process, a nonblocking
 * collective, an epoch at a window), or says what was wrong with writing. */
int MPIX_Checkpoint(const char* directory);
int PMPIX_Checkpoint(const char* directory);

/* *flag: 1 if the job has been started by tmpirun --restart, 0 if not. Local; does not suspend. */
int MPIX_Restarted(int* flag);
int PMPIX_Restarted(int* flag);

/* ---- Time and performance counters under virtualization ----
 *
 * Several ranks share a core and take turns, so MPI_Wtime around a section that contains a blocking call also measures the other
 * ranks that ran meanwhile. Two more points of view (Nigay et al., EuroMPI'20, section 3):
 *   - of the process: what this rank has used while it ran (MPIX_Rtime, MPIX_Rcounter);
 *   - of the core (processor): what this core has used in a marked section, whichever ranks ran there (MPIX_Ptime, MPIX_Pcounter).
 * Which one answers which question: docs/reference/timers.md. Time in which the operating system runs something else on the core counts as
 * running; only the library's own decisions suspend a rank. All this is about the rank's own flow of control, the one that called
 * MPI_Init: in threads that it creates the clocks read 0 and the counters' functions fail with MPI_ERR_OTHER. */
#define MPIX_HAVE_RTIME 1

/* The time that the calling rank has been running since its MPI_Init, in seconds: it stands still while the rank is suspended in
 * MPI. Differences measure a section of the rank's own work, as with MPI_Wtime; resolution MPI_Wtick. It keeps its meaning when
 * the rank moves to another core.
 *
 * 0 before MPI_Init; it stands still after MPI_Finalize (unless a session is open). If no part of the program that was loaded at its
 * start refers to MPIX_Rtime (a library opened by dlopen does), the clocks begin with the first call in the job, and differences are
 * right from then on. Not a scheduling point, no system call. */
double MPIX_Rtime(void);
double PMPIX_Rtime(void);

/* Begins and ends the calling rank's part in the metered section of the core. The core's time and counters advance while any rank
 * that is in the section runs on this core, and stand still otherwise; a rank that moves takes its section along.
 *
 * Every rank marks its own way through the section. Start within a section has no effect (the section goes on, one Stop ends it), nor
 * has Stop outside of one; a rank that ends within a section is counted up to its end. No effect before MPI_Init. Not a scheduling
 * point. */
void MPIX_Start_processor_timer(void);
void MPIX_Stop_processor_timer(void);
void PMPIX_Start_processor_timer(void);
void PMPIX_Stop_processor_timer(void);

/* The time in seconds that the core on which the caller runs has spent in the metered section, summed over all ranks that ran there;
 * the caller's own present stretch included. Every rank of a core reads the same clock. 0 before MPI_Init. Not a scheduling point. */
double MPIX_Ptime(void);
double PMPIX_Ptime(void);

/* A performance counter that the calling rank has opened. */
typedef struct MPIX_Counter_object* MPIX_Counter;
#define MPIX_COUNTER_NULL ((MPIX_Counter)0)

/* Opens a performance counter by name, for the calling rank only:
 *   instructions, cycles, ref-cycles, cache-references, cache-misses, branches, branch-misses
 *                                                    of the processor, in user space (also by PAPI's names: PAPI_TOT_INS ...);
 *   task-clock (ns), page-faults, context-switches   kept by the kernel, on every machine.
 * A switch to or from a rank that has a counter open reads it, by an instruction where the kernel allows that (some 20 ns), else by a
 * system call (some 300 ns); so do switches of ranks in the metered section on a core where any rank has one open.
 *
 * MPI_ERR_ARG: no counter has this name (the message lists them). MPI_ERR_UNSUPPORTED_OPERATION: the machine does not have it or the
 * kernel does not permit it (the message has the reason); *counter is then MPIX_COUNTER_NULL. Not a scheduling point. */
int MPIX_Counter_open(const char* name, MPIX_Counter* counter);
int PMPIX_Counter_open(const char* name, MPIX_Counter* counter);

/* What the calling rank has counted since MPIX_Counter_open while it was running. MPI_ERR_OTHER if the event could not be counted all
 * that time (the rank moved to a core that had no free counter): never a value that is too small. */
int MPIX_Rcounter(MPIX_Counter counter, MPI_Count* value);
int PMPIX_Rcounter(MPIX_Counter counter, MPI_Count* value);

/* What the core on which the caller runs has counted in the metered section (MPIX_Start_processor_timer) while at least one of its ranks
 * had this counter open, whichever rank was in the section. Errors as MPIX_Rcounter. */
int MPIX_Pcounter(MPIX_Counter counter, MPI_Count* value);
int PMPIX_Pcounter(MPIX_Counter counter, MPI_Count* value);

/* Closes a counter and sets the handle to MPIX_COUNTER_NULL. MPI_Finalize closes what is left. */
int MPIX_Counter_close(MPIX_Counter* counter);
int PMPIX_Counter_close(MPIX_Counter* counter);

#if defined(__cplusplus)
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* TMPI_MPIX_H */
