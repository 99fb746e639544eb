/* Opened with dlopen; needs a library of the user itself. */
extern int helper_state, helper_order;
#ifdef THIRD
int plugin3_add(int by) {
  return helper_state += by;
}
#else
int plugin2_add(int by) {
  return helper_state += by;
}
#endif
