// The standard's error classes with a short sentence each (MPI report, 9.4).
#include "mpi/base/error_classes.hpp"

#include <algorithm>
#include <array>

namespace tmpi::mpi {
namespace {

// In ascending order of the class.
constexpr std::array kClasses = {
    ErrorClass{MPI_SUCCESS, "MPI_SUCCESS", "no error"},
    ErrorClass{MPI_ERR_BUFFER, "MPI_ERR_BUFFER", "invalid buffer"},
    ErrorClass{MPI_ERR_COUNT, "MPI_ERR_COUNT", "invalid count"},
    ErrorClass{MPI_ERR_TYPE, "MPI_ERR_TYPE", "invalid datatype"},
    ErrorClass{MPI_ERR_TAG, "MPI_ERR_TAG", "invalid tag"},
    ErrorClass{MPI_ERR_COMM, "MPI_ERR_COMM", "invalid communicator"},
    ErrorClass{MPI_ERR_RANK, "MPI_ERR_RANK", "invalid rank"},
    ErrorClass{MPI_ERR_REQUEST, "MPI_ERR_REQUEST", "invalid request"},
    ErrorClass{MPI_ERR_ROOT, "MPI_ERR_ROOT", "invalid root"},
    ErrorClass{MPI_ERR_GROUP, "MPI_ERR_GROUP", "invalid group"},
    ErrorClass{MPI_ERR_OP, "MPI_ERR_OP", "invalid reduction operator"},
    ErrorClass{MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY", "invalid topology"},
    ErrorClass{MPI_ERR_DIMS, "MPI_ERR_DIMS", "invalid dimensions"},
    ErrorClass{MPI_ERR_ARG, "MPI_ERR_ARG", "invalid argument"},
    ErrorClass{MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN", "unknown error"},
    ErrorClass{MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE", "message truncated on receive"},
    ErrorClass{MPI_ERR_OTHER, "MPI_ERR_OTHER", "known error not in this list"},
    ErrorClass{MPI_ERR_INTERN, "MPI_ERR_INTERN", "internal error of the MPI library"},
    ErrorClass{MPI_ERR_PENDING, "MPI_ERR_PENDING", "the operation has neither failed nor completed"},
    ErrorClass{MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS", "the error code is in the status"},
    ErrorClass{MPI_ERR_ACCESS, "MPI_ERR_ACCESS", "permission denied"},
    ErrorClass{MPI_ERR_AMODE, "MPI_ERR_AMODE", "invalid access mode"},
    ErrorClass{MPI_ERR_ASSERT, "MPI_ERR_ASSERT", "invalid assertion"},
    ErrorClass{MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE", "invalid file name"},
    ErrorClass{MPI_ERR_BASE, "MPI_ERR_BASE", "invalid base address"},
    ErrorClass{MPI_ERR_CONVERSION, "MPI_ERR_CONVERSION", "error in a data conversion function"},
    ErrorClass{MPI_ERR_DISP, "MPI_ERR_DISP", "invalid displacement"},
    ErrorClass{MPI_ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP", "the data representation is defined already"},
    ErrorClass{MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS", "the file exists"},
    ErrorClass{MPI_ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE", "the file is in use"},
    ErrorClass{MPI_ERR_FILE, "MPI_ERR_FILE", "invalid file handle"},
    ErrorClass{MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY", "invalid info key"},
    ErrorClass{MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY", "no such info key"},
    ErrorClass{MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE", "invalid info value"},
    ErrorClass{MPI_ERR_INFO, "MPI_ERR_INFO", "invalid info object"},
    ErrorClass{MPI_ERR_IO, "MPI_ERR_IO", "input or output error"},
    ErrorClass{MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL", "invalid attribute key"},
    ErrorClass{MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE", "invalid lock type"},
    ErrorClass{MPI_ERR_NAME, "MPI_ERR_NAME", "unknown service name"},
    ErrorClass{MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM", "memory is exhausted"},
    ErrorClass{MPI_ERR_NOT_SAME, "MPI_ERR_NOT_SAME", "a collective argument differs between processes"},
    ErrorClass{MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE", "no space left"},
    ErrorClass{MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE", "the file does not exist"},
    ErrorClass{MPI_ERR_PORT, "MPI_ERR_PORT", "invalid port name"},
    ErrorClass{MPI_ERR_QUOTA, "MPI_ERR_QUOTA", "quota exceeded"},
    ErrorClass{MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY", "read-only file or file system"},
    ErrorClass{MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH", "memory cannot be attached"},
    ErrorClass{MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"},
    ErrorClass{MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE", "the target memory is not part of the window"},
    ErrorClass{MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED", "memory cannot be shared"},
    ErrorClass{MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC", "wrong synchronization of one-sided calls"},
    ErrorClass{MPI_ERR_SERVICE, "MPI_ERR_SERVICE", "invalid service name"},
    ErrorClass{MPI_ERR_SIZE, "MPI_ERR_SIZE", "invalid size"},
    ErrorClass{MPI_ERR_SPAWN, "MPI_ERR_SPAWN", "processes could not be started"},
    ErrorClass{MPI_ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP", "unsupported data representation"},
    ErrorClass{MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION", "unsupported operation"},
    ErrorClass{MPI_ERR_WIN, "MPI_ERR_WIN", "invalid window"},
    ErrorClass{MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR", "wrong window flavor"},
    ErrorClass{MPI_ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED", "a peer process has aborted"},
    ErrorClass{MPI_ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE",
               "the value does not fit into the output argument"},
    ErrorClass{MPI_ERR_SESSION, "MPI_ERR_SESSION", "invalid session"},
    ErrorClass{MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER", "invalid error handler"},
    ErrorClass{MPI_ERR_ABI, "MPI_ERR_ABI", "ABI mismatch"},
    ErrorClass{MPI_T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT", "the tools interface cannot be initialized"},
    ErrorClass{MPI_T_ERR_NOT_ACCESSIBLE, "MPI_T_ERR_NOT_ACCESSIBLE", "not accessible in the tools interface"},
    ErrorClass{MPI_T_ERR_NOT_INITIALIZED, "MPI_T_ERR_NOT_INITIALIZED",
               "the tools interface is not initialized"},
    ErrorClass{MPI_T_ERR_NOT_SUPPORTED, "MPI_T_ERR_NOT_SUPPORTED", "not supported by the tools interface"},
    ErrorClass{MPI_T_ERR_MEMORY, "MPI_T_ERR_MEMORY", "memory is exhausted in the tools interface"},
    ErrorClass{MPI_T_ERR_INVALID, "MPI_T_ERR_INVALID", "invalid use of the tools interface"},
    ErrorClass{MPI_T_ERR_INVALID_INDEX, "MPI_T_ERR_INVALID_INDEX", "invalid index in the tools interface"},
    ErrorClass{MPI_T_ERR_INVALID_ITEM, "MPI_T_ERR_INVALID_ITEM", "invalid item in the tools interface"},
    ErrorClass{MPI_T_ERR_INVALID_SESSION, "MPI_T_ERR_INVALID_SESSION", "invalid tools session"},
    ErrorClass{MPI_T_ERR_INVALID_HANDLE, "MPI_T_ERR_INVALID_HANDLE", "invalid tools handle"},
    ErrorClass{MPI_T_ERR_INVALID_NAME, "MPI_T_ERR_INVALID_NAME", "unknown name in the tools interface"},
    ErrorClass{MPI_T_ERR_OUT_OF_HANDLES, "MPI_T_ERR_OUT_OF_HANDLES", "no more tools handles"},
    ErrorClass{MPI_T_ERR_OUT_OF_SESSIONS, "MPI_T_ERR_OUT_OF_SESSIONS", "no more tools sessions"},
    ErrorClass{MPI_T_ERR_CVAR_SET_NOT_NOW, "MPI_T_ERR_CVAR_SET_NOT_NOW",
               "the control variable cannot be set now"},
    ErrorClass{MPI_T_ERR_CVAR_SET_NEVER, "MPI_T_ERR_CVAR_SET_NEVER", "the control variable cannot be set"},
    ErrorClass{MPI_T_ERR_PVAR_NO_WRITE, "MPI_T_ERR_PVAR_NO_WRITE",
               "the performance variable cannot be written"},
    ErrorClass{MPI_T_ERR_PVAR_NO_STARTSTOP, "MPI_T_ERR_PVAR_NO_STARTSTOP",
               "the performance variable cannot be started or stopped"},
    ErrorClass{MPI_T_ERR_PVAR_NO_ATOMIC, "MPI_T_ERR_PVAR_NO_ATOMIC",
               "the performance variable has no atomic read and write"},
    ErrorClass{MPI_ERR_LASTCODE, "MPI_ERR_LASTCODE", "last error code"},
};
static_assert(std::is_sorted(kClasses.begin(), kClasses.end(),
                             [](auto& a, auto& b) { return a.value < b.value; }));

}  // namespace

const ErrorClass* error_class(int value) noexcept {
  const auto* found = std::lower_bound(kClasses.begin(), kClasses.end(), value,
                                       [](auto& entry, int v) { return entry.value < v; });
  return found != kClasses.end() && found->value == value ? &*found : nullptr;
}

}  // namespace tmpi::mpi
