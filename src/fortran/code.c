/* Where this library's code lies in the rank's image: calls of MPI from here are the program's, whose lines reports name, but for those in
 * the functions marked OWN_CALLS. src/mpi/rank/bindings.hpp reads the frames, so all is compiled with frame pointers. */

/* Given by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
extern const char __start_tmpi_own_calls[] __attribute__((visibility("hidden")));
extern const char __stop_tmpi_own_calls[] __attribute__((visibility("hidden")));

/* tmpi-node has it; a program that is started by itself has no reports. */
void tmpi_bindings_at(const void* begin, const void* end, const void* own_begin, const void* own_end)
    __attribute__((weak));

__attribute__((constructor)) static void tell(void) {
  if (tmpi_bindings_at != 0)
    tmpi_bindings_at(__ehdr_start, _end, __start_tmpi_own_calls, __stop_tmpi_own_calls);
}
