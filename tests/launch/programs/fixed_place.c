// A library with thread-locals of the initial-exec model: 8 KiB of static thread-local memory for each rank.
_Thread_local char fixed_place[8192] = "fixed";
char* place_of_caller(void) {
  return fixed_place;
}
