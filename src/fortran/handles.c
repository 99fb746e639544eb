/* What handles.h looks up rarely, and the rank's variables behind it. */
#include "fortran/handles.h"

struct tmpi_fortran_constants tmpi_fortran_;

void* tmpi_kept_handles[KEPT];
uint64_t tmpi_kept_numbers[KEPT];

void* tmpi_constant_buffer(void* address) {
  if (address == &tmpi_fortran_.bottom) return MPI_BOTTOM;
  if (address == &tmpi_fortran_.in_place) return MPI_IN_PLACE;
  if (address == &tmpi_fortran_.buffer_automatic) return MPI_BUFFER_AUTOMATIC;
  return address;
}

void* tmpi_detached_buffer(void* address) {
  return address == MPI_BUFFER_AUTOMATIC ? (void*)&tmpi_fortran_.buffer_automatic : address;
}

int* tmpi_constant_weights(int* address) {
  if (address == &tmpi_fortran_.unweighted) return MPI_UNWEIGHTED;
  if (address == &tmpi_fortran_.weights_empty) return MPI_WEIGHTS_EMPTY;
  return address;
}

static void keep(void* handle, MPI_Fint number) {
  const uint32_t index = (uint32_t)number - PREDEFINED;
  const uint64_t address = (uintptr_t)handle;
  if (index < KEPT) __atomic_store_n(&tmpi_kept_handles[index], handle, __ATOMIC_RELAXED);
  if (index <= 0xffff && address >> 48 == 0)
    __atomic_store_n(&tmpi_kept_numbers[(address >> 4) % KEPT], address << 16 | index, __ATOMIC_RELAXED);
}

MPI_Fint tmpi_look_up_number(void* handle) {
  /* One table for all kinds of handles. */
  const MPI_Fint number = PMPI_Comm_c2f((MPI_Comm)handle);
  keep(handle, number);
  return number;
}

#define HANDLE_KIND(name, Kind, Handle)                                      \
  Handle tmpi_look_up_##name(MPI_Fint number) {                              \
    const Handle handle = PMPI_##Kind##_f2c(number);                         \
    if ((uintptr_t)handle < PREDEFINED) return (Handle)(uintptr_t)NO_HANDLE; \
    keep((void*)handle, number);                                             \
    return handle;                                                           \
  }
#include "fortran/handle_kinds.inc"
