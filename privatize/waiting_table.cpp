#include "privatize/function_table.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/waiting.hpp"

namespace tmpi::privatize {
namespace {

const FunctionEntry kTable[] = {
    {"sched_yield", address_of(&tmpi_sched_yield)},
    {"__sched_yield", address_of(&tmpi_sched_yield)},
    {"pthread_yield", address_of(&tmpi_sched_yield)},
    {"thrd_yield", address_of(&tmpi_thrd_yield)},
    {"pthread_mutex_lock", address_of(&tmpi_pthread_mutex_lock)},
    {"pthread_mutex_timedlock", address_of(&tmpi_pthread_mutex_timedlock)},
    {"pthread_mutex_clocklock", address_of(&tmpi_pthread_mutex_clocklock)},
    {"mtx_lock", address_of(&tmpi_mtx_lock)},
    {"mtx_timedlock", address_of(&tmpi_mtx_timedlock)},
    {"pthread_spin_lock", address_of(&tmpi_pthread_spin_lock)},
    {"pthread_cond_wait", address_of(&tmpi_pthread_cond_wait)},
    {"pthread_cond_timedwait", address_of(&tmpi_pthread_cond_timedwait)},
    {"pthread_cond_clockwait", address_of(&tmpi_pthread_cond_clockwait)},
    {"cnd_wait", address_of(&tmpi_cnd_wait)},
    {"cnd_timedwait", address_of(&tmpi_cnd_timedwait)},
    {"pthread_rwlock_rdlock", address_of(&tmpi_pthread_rwlock_rdlock)},
    {"pthread_rwlock_wrlock", address_of(&tmpi_pthread_rwlock_wrlock)},
    {"pthread_rwlock_timedrdlock", address_of(&tmpi_pthread_rwlock_timedrdlock)},
    {"pthread_rwlock_timedwrlock", address_of(&tmpi_pthread_rwlock_timedwrlock)},
    {"pthread_rwlock_clockrdlock", address_of(&tmpi_pthread_rwlock_clockrdlock)},
    {"pthread_rwlock_clockwrlock", address_of(&tmpi_pthread_rwlock_clockwrlock)},
    {"sem_wait", address_of(&tmpi_sem_wait)},
    {"sem_timedwait", address_of(&tmpi_sem_timedwait)},
    {"sem_clockwait", address_of(&tmpi_sem_clockwait)},
    {"pthread_barrier_wait", address_of(&tmpi_pthread_barrier_wait)},
    {"semop", address_of(&tmpi_semop)},
    {"semtimedop", address_of(&tmpi_semtimedop)},
    {"msgrcv", address_of(&tmpi_msgrcv)},
    {"msgsnd", address_of(&tmpi_msgsnd)},
    {"mq_receive", address_of(&tmpi_mq_receive)},
    {"mq_timedreceive", address_of(&tmpi_mq_timedreceive)},
    {"mq_send", address_of(&tmpi_mq_send)},
    {"mq_timedsend", address_of(&tmpi_mq_timedsend)},
    {"epoll_pwait", address_of(&tmpi_epoll_pwait)},
    {"epoll_pwait2", address_of(&tmpi_epoll_pwait2)},
    {"sendmmsg", address_of(&tmpi_sendmmsg)},
    {"splice", address_of(&tmpi_splice)},
    {"sendfile", address_of(&tmpi_sendfile)},
    {"sendfile64", address_of(&tmpi_sendfile)},  // the same on 64-bit machines
    {"sigsuspend", address_of(&tmpi_sigsuspend)},
    {"__sigsuspend", address_of(&tmpi_sigsuspend)},
    {"sigtimedwait", address_of(&tmpi_sigtimedwait)},
    {"sigwaitinfo", address_of(&tmpi_sigwaitinfo)},
    {"sigwait", address_of(&tmpi_sigwait)},
    {"fgets", address_of(&tmpi_fgets)},
    {"fgets_unlocked", address_of(&tmpi_fgets)},
    {"__fgets_chk", address_of(&tmpi_fgets_chk)},
    {"__fgets_unlocked_chk", address_of(&tmpi_fgets_chk)},
    {"fgetc", address_of(&tmpi_fgetc)},
    {"getc", address_of(&tmpi_fgetc)},
    {"_IO_getc", address_of(&tmpi_fgetc)},
    {"fgetc_unlocked", address_of(&tmpi_fgetc)},
    {"getc_unlocked", address_of(&tmpi_fgetc)},
    {"__uflow", address_of(&tmpi_uflow)},
    {"fread", address_of(&tmpi_fread)},
    {"fread_unlocked", address_of(&tmpi_fread)},
    {"__fread_chk", address_of(&tmpi_fread_chk)},
    {"__fread_unlocked_chk", address_of(&tmpi_fread_chk)},
    {"aio_read", address_of(&tmpi_aio_read)},  // both widths are the same on 64-bit machines
    {"aio_read64", address_of(&tmpi_aio_read)},
    {"aio_write", address_of(&tmpi_aio_write)},
    {"aio_write64", address_of(&tmpi_aio_write)},
    {"aio_fsync", address_of(&tmpi_aio_fsync)},
    {"aio_fsync64", address_of(&tmpi_aio_fsync)},
    {"lio_listio", address_of(&tmpi_lio_listio)},
    {"lio_listio64", address_of(&tmpi_lio_listio)},
    {"aio_suspend", address_of(&tmpi_aio_suspend)},
    {"aio_suspend64", address_of(&tmpi_aio_suspend)},
    {"mq_notify", address_of(&tmpi_mq_notify)},
    {"getaddrinfo", address_of(&tmpi_getaddrinfo)},
};

}  // namespace

const void* waiting_function(const char* name) noexcept {
  return find_function(kTable, name);
}

}  // namespace tmpi::privatize
