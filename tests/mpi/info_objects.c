/* Info objects. MPI report, chapter 10; MPI_INFO_ENV: 11.2.1. */
#include "check.h"

static void test_life(void) {
  MPI_Info info, dup;
  int n = -1, flag = -1, length = -1;
  char key[MPI_MAX_INFO_KEY], value[64];
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_get_nkeys(info, &n));
  CHECK_EQ(n, 0);
  CHECK_OK(MPI_Info_set(info, "first", "1"));
  CHECK_OK(MPI_Info_set(info, "second", "two words"));
  CHECK_OK(MPI_Info_set(info, "Third", "3"));
  CHECK_OK(MPI_Info_set(info, "first", "one"));
  CHECK_OK(MPI_Info_get_nkeys(info, &n));
  CHECK_EQ(n, 3);
  const char* keys[] = {"first", "second", "Third"};
  for (int i = 0; i < 3; i++) {
    CHECK_OK(MPI_Info_get_nthkey(info, i, key));
    CHECK_STRING(key, keys[i]);
  }
  CHECK_OK(MPI_Info_dup(info, &dup));
  CHECK_OK(MPI_Info_delete(info, "second"));
  CHECK_OK(MPI_Info_get_nthkey(info, 1, key));
  CHECK_STRING(key, "Third");
  CHECK_OK(MPI_Info_get(info, "second", 10, value, &flag));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Info_get(dup, "second", 10, value, &flag));
  CHECK(flag);
  CHECK_STRING(value, "two words");
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Info_get(dup, "second", 3, value, &flag)); /* cut to three characters */
  CHECK_STRING(value, "two");
#endif
  CHECK_OK(MPI_Info_get_valuelen(dup, "second", &length, &flag));
  CHECK(flag);
  CHECK_EQ(length, 9);
  CHECK_OK(MPI_Info_get_valuelen(dup, "third", &length, &flag)); /* case counts */
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Info_free(&info));
  CHECK(info == MPI_INFO_NULL);
  CHECK_OK(MPI_Info_free(&dup));
}

#if MPI_VERSION >= 4
static void test_get_string(void) {
  MPI_Info info;
  char value[64];
  int length, flag;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "key", "value"));
  length = 0;
  CHECK_OK(MPI_Info_get_string(info, "key", &length, NULL, &flag)); /* asks for the room */
  CHECK(flag);
  CHECK_EQ(length, 6);
  CHECK_OK(MPI_Info_get_string(info, "key", &length, value, &flag));
  CHECK_STRING(value, "value");
  CHECK_EQ(length, 6);
  length = 3;
  CHECK_OK(MPI_Info_get_string(info, "key", &length, value, &flag));
  CHECK_STRING(value, "va");
  CHECK_EQ(length, 6);
  length = 17;
  CHECK_OK(MPI_Info_get_string(info, "none", &length, value, &flag));
  CHECK_EQ(flag, 0);
  CHECK_EQ(length, 17);
  CHECK_STRING(value, "va");
  CHECK_OK(MPI_Info_free(&info));
}
#endif

static void test_limits(void) {
  MPI_Info info;
  int n, flag, length;
  CHECK_OK(MPI_Info_create(&info));
  char* key = check_malloc(MPI_MAX_INFO_KEY + 1);
  char* value = check_malloc(MPI_MAX_INFO_VAL + 1);
  char* back = check_malloc(MPI_MAX_INFO_VAL + 1);
  memset(key, 'k', MPI_MAX_INFO_KEY);
  memset(value, 'v', MPI_MAX_INFO_VAL);
  key[MPI_MAX_INFO_KEY] = value[MPI_MAX_INFO_VAL] = '\0';
  CHECK_CLASS(MPI_Info_set(info, key, "x"), MPI_ERR_INFO_KEY);
  CHECK_CLASS(MPI_Info_set(info, "x", value), MPI_ERR_INFO_VALUE);
  key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = '\0'; /* the longest ones */
  CHECK_OK(MPI_Info_set(info, key, value));
  CHECK_OK(MPI_Info_get_valuelen(info, key, &length, &flag));
  CHECK_EQ(length, MPI_MAX_INFO_VAL - 1);
  CHECK_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, back, &flag));
  CHECK_STRING(back, value);
  CHECK_OK(MPI_Info_get_nthkey(info, 0, back));
  CHECK_STRING(back, key);
  for (int i = 0; i < 500; i++) {
    snprintf(key, MPI_MAX_INFO_KEY, "key %d", i);
    snprintf(value, MPI_MAX_INFO_VAL, "value %d of rank %d", i, world_rank);
    CHECK_OK(MPI_Info_set(info, key, value));
  }
  CHECK_OK(MPI_Info_get_nkeys(info, &n));
  CHECK_EQ(n, 501);
  for (int i = 0; i < 500; i += 7) {
    snprintf(key, MPI_MAX_INFO_KEY, "key %d", i);
    snprintf(value, MPI_MAX_INFO_VAL, "value %d of rank %d", i, world_rank);
    CHECK_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, back, &flag));
    CHECK(flag);
    CHECK_STRING(back, value);
  }
  CHECK_OK(MPI_Info_free(&info));
  free(key), free(value), free(back);
}

static void test_errors(void) {
  MPI_Info info, none = MPI_INFO_NULL;
  int n, flag;
  char text[MPI_MAX_INFO_VAL];
  CHECK_OK(MPI_Info_create(&info));
  CHECK_CLASS(MPI_Info_delete(info, "none"), MPI_ERR_INFO_NOKEY);
  CHECK_CLASS(MPI_Info_set(info, NULL, "x"), MPI_ERR_INFO_KEY);
  CHECK_CLASS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
  CHECK_CLASS(MPI_Info_set(info, "x", NULL), MPI_ERR_INFO_VALUE);
  CHECK_CLASS(MPI_Info_get_nthkey(info, 0, text), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Info_get_nthkey(info, -1, text), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Info_get_nkeys(MPI_INFO_NULL, &n), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Info_free(&none), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Info_create(NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Info_get_nkeys(info, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Info_get(info, "x", -1, text, &flag), MPI_ERR_ARG);
#ifdef MPI_ABI_VERSION
  MPI_Info env = MPI_INFO_ENV, freed = info;
  CHECK_CLASS(MPI_Info_set(MPI_INFO_ENV, "x", "y"), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Info_free(&env), MPI_ERR_INFO);
  MPI_Comm comm;
  CHECK_CLASS(MPI_Comm_dup_with_info(MPI_COMM_SELF, (MPI_Info)8, &comm), MPI_ERR_INFO);
  CHECK_OK(MPI_Info_free(&info));
  (void)freed;
#else
  CHECK_OK(MPI_Info_free(&info));
#endif
}

#ifdef MPI_ABI_VERSION
static const char* value_of(MPI_Info info, const char* key) {
  static char value[MPI_MAX_INFO_VAL];
  int flag;
  CHECK_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, value, &flag));
  return flag ? value : NULL;
}

static void test_environment(int argc, char** argv) {
  CHECK(strstr(value_of(MPI_INFO_ENV, "command"), "info_objects") != NULL);
  CHECK_EQ(atoi(value_of(MPI_INFO_ENV, "maxprocs")), world_size);
  CHECK_STRING(value_of(MPI_INFO_ENV, "thread_level"), "MPI_THREAD_SINGLE");
  char name[MPI_MAX_PROCESSOR_NAME];
  int length;
  CHECK_OK(MPI_Get_processor_name(name, &length));
  CHECK_STRING(value_of(MPI_INFO_ENV, "host"), name);
  CHECK(value_of(MPI_INFO_ENV, "wdir")[0] == '/');
  CHECK_STRING(value_of(MPI_INFO_ENV, "argv"), "");
  MPI_Info info;
  CHECK_OK(MPI_Info_create_env(argc, argv, &info));
  CHECK(strstr(value_of(info, "command"), "info_objects") != NULL);
  CHECK_OK(MPI_Info_set(info, "mine", "yes")); /* an object of one's own */
  CHECK_OK(MPI_Info_free(&info));
}
#endif

int main(int argc, char** argv) {
#if MPI_VERSION >= 4
  /* Info objects may be used before MPI_Init and after MPI_Finalize. */
  MPI_Info early;
  int flag, room = 8;
  char value[8] = "";
  CHECK_OK(MPI_Info_create(&early));
  CHECK_OK(MPI_Info_set(early, "when", "early"));
#endif
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_life();
  test_limits();
  test_errors();
#if MPI_VERSION >= 4
  test_get_string();
#endif
#ifdef MPI_ABI_VERSION
  test_environment(argc, argv);
#endif
  const int code = check_end();
#if MPI_VERSION >= 4
  if (MPI_Info_get_string(early, "when", &room, value, &flag) != MPI_SUCCESS || !flag ||
      strcmp(value, "early") != 0 || MPI_Info_free(&early) != MPI_SUCCESS)
    return 1;
#endif
  return code;
}
