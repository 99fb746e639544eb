/* Needed by two libraries that are opened with dlopen. */
int helper_state = 1000;
int helper_order;
__attribute__((constructor)) static void start(void) {
  ++helper_order;
}
