#include "mpi/core/errhandler.hpp"

namespace tmpi::mpi {
namespace {

// Never written after start-up, so all ranks may share them.
Errhandler predefined_handlers[] = {{.predefined = MPI_ERRORS_ARE_FATAL},
                                    {.predefined = MPI_ERRORS_ABORT},
                                    {.predefined = MPI_ERRORS_RETURN}};

bool counted(const Errhandler* handler) noexcept {
  return handler != nullptr && handler->predefined == MPI_ERRHANDLER_NULL;
}

}  // namespace

Errhandler* errhandler_from(MPI_Errhandler handle) noexcept {
  for (Errhandler& handler : predefined_handlers) {
    if (handler.predefined == handle) return &handler;
  }
  if (reinterpret_cast<std::uintptr_t>(handle) < 4096) return nullptr;
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

}  // namespace tmpi::mpi
