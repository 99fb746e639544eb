#include "mpi/base/errhandler.hpp"

#include "mpi/base/handles.hpp"

namespace tmpi::mpi {
namespace {

// Never written after start-up, so all ranks may share them.
Errhandler predefined_handlers[] = {{.predefined = MPI_ERRORS_ARE_FATAL},
                                    {.predefined = MPI_ERRORS_ABORT},
                                    {.predefined = MPI_ERRORS_RETURN}};

bool counted(const Errhandler* handler) noexcept {
  return handler != nullptr && handler->predefined == MPI_ERRHANDLER_NULL;
}

const char* function_name(Raiser kind) noexcept {
  switch (kind) {
    case Raiser::kComm:
      return "MPI_Comm_create_errhandler";
    case Raiser::kSession:
      return "MPI_Session_create_errhandler";
    case Raiser::kWin:
      return "MPI_Win_create_errhandler";
    case Raiser::kFile:
      return "MPI_File_create_errhandler";
  }
  return "";
}

}  // namespace

Errhandler* errhandler_from(MPI_Errhandler handle) noexcept {
  for (Errhandler& handler : predefined_handlers) {
    if (handler.predefined == handle) return &handler;
  }
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (is_predefined(handle) || value % alignof(Errhandler) != 0) return nullptr;
  Errhandler* handler = reinterpret_cast<Errhandler*>(handle);
  return handler->magic == Errhandler::kMagic ? handler : nullptr;
}

MPI_Errhandler handle_of(Errhandler* handler) noexcept {
  if (handler == nullptr) return MPI_ERRORS_ARE_FATAL;
  return counted(handler) ? reinterpret_cast<MPI_Errhandler>(handler) : handler->predefined;
}

void retain(Errhandler* handler) noexcept {
  if (counted(handler)) ++handler->references;
}

void release(Errhandler* handler) noexcept {
  if (!counted(handler) || --handler->references > 0) return;
  handler->magic = 0;
  delete handler;
}

Err check_errhandler(MPI_Errhandler handle, Raiser kind, Errhandler*& handler) {
  handler = errhandler_from(handle);
  if (handler == nullptr)
    return fail(MPI_ERR_ERRHANDLER, "{} is no error handler",
                handle == MPI_ERRHANDLER_NULL ? "MPI_ERRHANDLER_NULL" : "the handle");
  if (counted(handler) && handler->kind != kind)
    return fail(MPI_ERR_ERRHANDLER, "the error handler was made by {}, but this call needs one of {}",
                function_name(handler->kind), function_name(kind));
  return kOk;
}

Err set_errhandler(Errhandler*& field, Raiser kind, MPI_Errhandler handle) {
  Errhandler* handler;
  TMPI_TRY(check_errhandler(handle, kind, handler));
  retain(handler);
  release(field);
  field = handler;
  return kOk;
}

Err get_errhandler(Errhandler* field, MPI_Errhandler* handle) {
  if (handle == nullptr) return fail(MPI_ERR_ARG, "argument errhandler is NULL");
  retain(field);  // the user frees the handle that is returned
  *handle = handle_of(field);
  return kOk;
}

}  // namespace tmpi::mpi
