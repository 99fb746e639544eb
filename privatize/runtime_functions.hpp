// libc functions in the loader's own version, which know ranks and images; bound to code in images by
// runtime_table.cpp. Each has the contract of the libc function whose name it carries. pthread_create and
// pthread_join are exported by the node executable, so that libstdc++'s std::thread finds them too.
#pragma once

#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>

namespace tmpi::privatize {

extern "C" {

// entry.cpp
int tmpi_libc_start_main(int (*main)(int, char**, char**), int argc, char** argv);

// helper_threads.cpp
int tmpi_thrd_join(thrd_t thread, int* result);
int tmpi_thrd_create(thrd_t* thread, thrd_start_t function, void* argument);

// blocking_functions.cpp
int tmpi_pthread_mutex_lock(pthread_mutex_t* mutex);
int tmpi_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* time);
int tmpi_pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time);
int tmpi_mtx_lock(mtx_t* mutex);
int tmpi_mtx_timedlock(mtx_t* mutex, const timespec* time);
int tmpi_pthread_spin_lock(pthread_spinlock_t* lock);
int tmpi_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex);
int tmpi_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                const timespec* time);
int tmpi_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time);
int tmpi_cnd_wait(cnd_t* condition, mtx_t* mutex);
int tmpi_cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* time);
int tmpi_pthread_rwlock_rdlock(pthread_rwlock_t* lock);
int tmpi_pthread_rwlock_wrlock(pthread_rwlock_t* lock);
int tmpi_pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time);
int tmpi_pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time);
int tmpi_pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* time);
int tmpi_pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* time);
int tmpi_sem_wait(sem_t* semaphore);
int tmpi_sem_timedwait(sem_t* semaphore, const timespec* time);
int tmpi_sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time);
int tmpi_pthread_barrier_wait(pthread_barrier_t* barrier);

// waiting_functions.cpp; the first is called by the shim, which has fopen
FILE* tmpi_wait_open(FILE* (*open)(const char*, const char*), const char* path, const char* mode);
long tmpi_waiting_syscall(long number, long a, long b, long c, long d, long e, long f);
int tmpi_semop(int set, sembuf* operations, std::size_t count);
int tmpi_semtimedop(int set, sembuf* operations, std::size_t count, const timespec* time);
ssize_t tmpi_msgrcv(int queue, void* message, std::size_t size, long type, int flags);
int tmpi_msgsnd(int queue, const void* message, std::size_t size, int flags);
ssize_t tmpi_mq_receive(mqd_t queue, char* data, std::size_t size, unsigned* priority);
ssize_t tmpi_mq_timedreceive(mqd_t queue, char* data, std::size_t size, unsigned* priority,
                             const timespec* time);
int tmpi_mq_send(mqd_t queue, const char* data, std::size_t size, unsigned priority);
int tmpi_mq_timedsend(mqd_t queue, const char* data, std::size_t size, unsigned priority,
                      const timespec* time);
int tmpi_sigtimedwait(const sigset_t* signals, siginfo_t* info, const timespec* time);
int tmpi_sigwaitinfo(const sigset_t* signals, siginfo_t* info);
int tmpi_sigwait(const sigset_t* signals, int* signal);
int tmpi_getaddrinfo(const char* node, const char* port, const addrinfo* hints, addrinfo** found);

// masked_wait.cpp
int tmpi_sigsuspend(const sigset_t* mask);

// waiting_streams.cpp; the first two are called by the shim, which has fscanf and fflush
int tmpi_wait_scan(int (*scan)(FILE*, const char*, va_list), FILE* file, const char* format,
                   va_list arguments);
int tmpi_wait_flush(int (*flush)(FILE*), FILE* file);
char* tmpi_fgets(char* line, int size, FILE* file);
char* tmpi_fgets_chk(char* line, std::size_t room, int size, FILE* file);
int tmpi_fgetc(FILE* file);
int tmpi_uflow(FILE* file);
std::size_t tmpi_fread(void* data, std::size_t size, std::size_t count, FILE* file);
std::size_t tmpi_fread_chk(void* data, std::size_t room, std::size_t size, std::size_t count, FILE* file);

// sleeping_functions.cpp
int tmpi_sched_yield();
void tmpi_thrd_yield();
unsigned tmpi_sleep(unsigned seconds);
int tmpi_usleep(useconds_t microseconds);
int tmpi_nanosleep(const timespec* request, timespec* rest);
int tmpi_clock_nanosleep(clockid_t clock, int flags, const timespec* request, timespec* rest);
int tmpi_thrd_sleep(const timespec* request, timespec* rest);
int tmpi_pause();
int tmpi_poll(pollfd* requests, nfds_t count, int milliseconds);
int tmpi_poll_chk(pollfd* requests, nfds_t count, int milliseconds, std::size_t size);
int tmpi_ppoll(pollfd* requests, nfds_t count, const timespec* timeout, const sigset_t* mask);
int tmpi_ppoll_chk(pollfd* requests, nfds_t count, const timespec* timeout, const sigset_t* mask,
                   std::size_t size);
int tmpi_select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional, timeval* timeout);
int tmpi_pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional, const timespec* timeout,
                 const sigset_t* mask);

// offloaded_functions.cpp; the first four are called by the shim, which has read, readv, write, writev
ssize_t tmpi_wait_read(int fd, void* data, size_t length);
ssize_t tmpi_wait_readv(int fd, const struct iovec* parts, int count);
ssize_t tmpi_wait_write(int fd, const void* data, size_t length);
ssize_t tmpi_wait_writev(int fd, const struct iovec* parts, int count);
ssize_t tmpi_recv(int fd, void* data, size_t length, int flags);
ssize_t tmpi_recv_chk(int fd, void* data, size_t length, size_t size, int flags);
ssize_t tmpi_recvfrom(int fd, void* data, size_t length, int flags, sockaddr* from, socklen_t* from_length);
ssize_t tmpi_recvfrom_chk(int fd, void* data, size_t length, size_t size, int flags, sockaddr* from,
                          socklen_t* from_length);
ssize_t tmpi_recvmsg(int fd, msghdr* message, int flags);
ssize_t tmpi_send(int fd, const void* data, size_t length, int flags);
ssize_t tmpi_sendto(int fd, const void* data, size_t length, int flags, const sockaddr* to,
                    socklen_t to_length);
ssize_t tmpi_sendmsg(int fd, const msghdr* message, int flags);
int tmpi_accept(int fd, sockaddr* address, socklen_t* length);
int tmpi_accept4(int fd, sockaddr* address, socklen_t* length, int flags);
int tmpi_connect(int fd, const sockaddr* address, socklen_t length);
int tmpi_epoll_wait(int fd, epoll_event* events, int most, int milliseconds);
int tmpi_epoll_pwait(int fd, epoll_event* events, int most, int milliseconds, const sigset_t* mask);
int tmpi_epoll_pwait2(int fd, epoll_event* events, int most, const timespec* timeout, const sigset_t* mask);
int tmpi_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout);
int tmpi_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags);
ssize_t tmpi_splice(int from, off64_t* from_at, int to, off64_t* to_at, std::size_t length, unsigned flags);
ssize_t tmpi_sendfile(int to, int from, off_t* from_at, std::size_t length);
int tmpi_flock(int fd, int operation);
int tmpi_lockf(int fd, int command, off_t length);
int tmpi_fcntl(int fd, int command, ...);

// asynchronous_functions.cpp
int tmpi_aio_read(aiocb* request);
int tmpi_aio_write(aiocb* request);
int tmpi_aio_fsync(int operation, aiocb* request);
int tmpi_lio_listio(int mode, aiocb* const* requests, int count, sigevent* event);
int tmpi_aio_suspend(const aiocb* const* requests, int count, const timespec* time);
int tmpi_mq_notify(mqd_t queue, const sigevent* event);

// descriptor_signals.cpp
int tmpi_ioctl(int fd, unsigned long request, ...);

// children.cpp
pid_t tmpi_wait4(pid_t process, int* status, int options, rusage* usage);
pid_t tmpi_wait3(int* status, int options, rusage* usage);
pid_t tmpi_waitpid(pid_t process, int* status, int options);
pid_t tmpi_wait(int* status);
int tmpi_waitid(idtype_t kind, id_t id, siginfo_t* info, int options);
int tmpi_clone(int (*function)(void*), void* stack, int flags, void* argument, pid_t* parent, void* tls,
               pid_t* child);

// process_ids.cpp
pid_t tmpi_getpid();
pid_t tmpi_gettid();
pid_t tmpi_getppid();
pid_t tmpi_getpgid(pid_t process);
int tmpi_setpgid(pid_t process, pid_t group);
pid_t tmpi_getsid(pid_t process);
int tmpi_getpriority(int which, id_t id);
int tmpi_setpriority(int which, id_t id, int priority);
int tmpi_sched_setscheduler(pid_t thread, int policy, const sched_param* parameters);
int tmpi_sched_getscheduler(pid_t thread);
int tmpi_sched_setparam(pid_t thread, const sched_param* parameters);
int tmpi_sched_getparam(pid_t thread, sched_param* parameters);
int tmpi_sched_rr_get_interval(pid_t thread, timespec* interval);
int tmpi_pidfd_open(pid_t process, unsigned flags);
ssize_t tmpi_process_vm_readv(pid_t process, const iovec* here, unsigned long count, const iovec* there,
                              unsigned long parts, unsigned long flags);
ssize_t tmpi_process_vm_writev(pid_t process, const iovec* here, unsigned long count, const iovec* there,
                               unsigned long parts, unsigned long flags);
int tmpi_tgkill(pid_t process, pid_t thread, int signal);
long tmpi_syscall(long call, long a, long b, long c, long d, long e, long f);

// clock_functions.cpp
int tmpi_clock_gettime(clockid_t clock, timespec* time);
int tmpi_gettimeofday(timeval* time, void* zone);
time_t tmpi_time(time_t* time);
int tmpi_timespec_get(timespec* time, int base);
clock_t tmpi_clock();
clock_t tmpi_times(tms* times);
int tmpi_getrusage(int whose, rusage* usage);
int tmpi_clock_getcpuclockid(pid_t process, clockid_t* clock);
int tmpi_pthread_getcpuclockid(pthread_t thread, clockid_t* clock);

// own_affinity.cpp
int tmpi_sched_setaffinity(pid_t thread, std::size_t size, const cpu_set_t* cores);
int tmpi_sched_getaffinity(pid_t thread, std::size_t size, cpu_set_t* cores);
int tmpi_pthread_setaffinity_np(pthread_t thread, std::size_t size, const cpu_set_t* cores);
int tmpi_pthread_getaffinity_np(pthread_t thread, std::size_t size, cpu_set_t* cores);
int tmpi_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes);

// own_limits.cpp
int tmpi_prlimit(pid_t process, int resource, const rlimit* wanted, rlimit* before);
int tmpi_getrlimit(int resource, rlimit* limit);
int tmpi_setrlimit(int resource, const rlimit* limit);
long tmpi_sysconf(int name);
int tmpi_getdtablesize();
long tmpi_ulimit(int command, ...);

// pthread_keys.cpp
int tmpi_pthread_key_create(pthread_key_t* key, void (*destructor)(void*));
int tmpi_pthread_key_delete(pthread_key_t key);
void* tmpi_pthread_getspecific(pthread_key_t key);
int tmpi_pthread_setspecific(pthread_key_t key, const void* value);
void tmpi_tss_delete(pthread_key_t key);

// unwind.cpp
int tmpi_dl_iterate_phdr(int (*callback)(dl_phdr_info*, std::size_t, void*), void* data);

// dl_functions.cpp
int tmpi_dladdr(const void* address, Dl_info* info);
int tmpi_dladdr1(const void* address, Dl_info* info, void** extra, int flags);
void* tmpi_dlopen(const char* file, int mode);
int tmpi_dlclose(void* handle);
void* tmpi_dlsym(void* handle, const char* name);
void* tmpi_dlvsym(void* handle, const char* name, const char* version);
char* tmpi_dlerror();
int tmpi_dlinfo(void* handle, int request, void* result);

// own_file.cpp
ssize_t tmpi_readlink(const char* path, char* buffer, std::size_t size);
ssize_t tmpi_readlinkat(int directory, const char* path, char* buffer, std::size_t size);
ssize_t tmpi_readlink_chk(const char* path, char* buffer, std::size_t size, std::size_t room);
ssize_t tmpi_readlinkat_chk(int directory, const char* path, char* buffer, std::size_t size,
                            std::size_t room);
int tmpi_open(const char* path, int flags, ...);
int tmpi_openat(int directory, const char* path, int flags, ...);
int tmpi_open_2(const char* path, int flags);
int tmpi_stat(const char* path, struct stat* out);
int tmpi_lstat(const char* path, struct stat* out);
int tmpi_fstatat(int directory, const char* path, struct stat* out, int flags);
int tmpi_statx(int directory, const char* path, int flags, unsigned mask, struct statx* out);
int tmpi_access(const char* path, int mode);
int tmpi_faccessat(int directory, const char* path, int mode, int flags);
DIR* tmpi_opendir(const char* path);
int tmpi_posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment);
int tmpi_posix_spawnp(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                      const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment);
unsigned long tmpi_getauxval(unsigned long type);
}

}  // namespace tmpi::privatize
