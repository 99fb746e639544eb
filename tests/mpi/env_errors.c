/* Error classes, codes, strings and handlers. MPI report, 9.3 to 9.5. */
#include "check.h"

static const int kClasses[] = {
    MPI_SUCCESS,    MPI_ERR_BUFFER, MPI_ERR_COUNT,   MPI_ERR_TYPE,
    MPI_ERR_TAG,    MPI_ERR_COMM,   MPI_ERR_RANK,    MPI_ERR_REQUEST,
    MPI_ERR_ROOT,   MPI_ERR_GROUP,  MPI_ERR_OP,      MPI_ERR_TOPOLOGY,
    MPI_ERR_DIMS,   MPI_ERR_ARG,    MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE,
    MPI_ERR_OTHER,  MPI_ERR_INTERN, MPI_ERR_PENDING, MPI_ERR_IN_STATUS,
    MPI_ERR_NO_MEM, MPI_ERR_INFO,   MPI_ERR_KEYVAL,  MPI_ERR_UNSUPPORTED_OPERATION};

static void test_strings(void) {
  char seen[sizeof kClasses / sizeof kClasses[0]][MPI_MAX_ERROR_STRING];
  for (size_t i = 0; i < sizeof kClasses / sizeof kClasses[0]; i++) {
    int class_ = -1, length = -1;
    CHECK_OK(MPI_Error_class(kClasses[i], &class_));
    CHECK_EQ(class_, kClasses[i]);
    CHECK_OK(MPI_Error_string(kClasses[i], seen[i], &length));
    CHECK_EQ(length, strlen(seen[i]));
    CHECK(length > 0 && length < MPI_MAX_ERROR_STRING);
    for (size_t k = 0; k < i; k++) CHECK(strcmp(seen[k], seen[i]) != 0);
  }
}

/* Classes and codes that a program adds; they are local to the rank. */
static void test_added(void) {
  int class1 = -1, class2 = -1, code = -1, class_ = -1, length = -1;
  char text[MPI_MAX_ERROR_STRING];
  CHECK_OK(MPI_Add_error_class(&class1));
  CHECK_OK(MPI_Add_error_class(&class2));
  CHECK(class1 > MPI_ERR_LASTCODE && class2 > MPI_ERR_LASTCODE && class1 != class2);
  CHECK_OK(MPI_Add_error_code(class2, &code));
  CHECK(code != class1 && code != class2);
  CHECK_OK(MPI_Error_class(code, &class_));
  CHECK_EQ(class_, class2);
#ifndef OPEN_MPI /* says MPI_ERR_UNKNOWN */
  CHECK_OK(MPI_Error_class(class1, &class_));
  CHECK_EQ(class_, class1);
#endif
  CHECK_OK(MPI_Error_string(code, text, &length));
#ifdef MPI_ABI_VERSION
  CHECK_EQ(length, 0); /* no string yet: empty */
#endif
  char mine[64];
  snprintf(mine, sizeof mine, "the flux capacitor of rank %d is empty", world_rank);
  CHECK_OK(MPI_Add_error_string(code, mine));
  CHECK_OK(MPI_Add_error_string(class2, "flux"));
  MPI_Barrier(MPI_COMM_WORLD); /* other ranks have set theirs by now */
  CHECK_OK(MPI_Error_string(code, text, &length));
  CHECK_STRING(text, mine);
  CHECK_EQ(length, strlen(mine));
  CHECK_OK(MPI_Error_string(class2, text, &length));
  CHECK_STRING(text, "flux");
  CHECK_OK(MPI_Add_error_string(code, "changed"));
  CHECK_OK(MPI_Error_string(code, text, &length));
  CHECK_STRING(text, "changed");
  /* Nothing is added to the program's text, also where the error has just been raised. */
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_call_errhandler(MPI_COMM_SELF, code));
  CHECK_OK(MPI_Error_string(code, text, &length));
  CHECK_STRING(text, "changed");
}

#ifdef MPI_ABI_VERSION

static void check_text(int code, const char* want) {
  char text[MPI_MAX_ERROR_STRING];
  int length = -1;
  CHECK_OK(MPI_Error_string(code, text, &length));
  CHECK_STRING(text, want);
  CHECK_EQ(length, strlen(want));
}

static void check_unknown(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int value = -1;
  CHECK_CLASS(MPI_Error_class(code, &value), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Error_string(code, text, &value), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Add_error_string(code, "gone"), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Remove_error_string(code), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Remove_error_class(code), MPI_ERR_ARG);
}

static int last_used_code(void) {
  int *value = NULL, flag = 0;
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
  CHECK(flag);
  return *value;
}

/* What is removed is gone, and nothing else: strings, codes without strings, and classes with neither. */
static void test_removed(void) {
  int class1 = -1, class2 = -1, codes[3], class_ = -1, of_mine = -1;
  CHECK_OK(MPI_Add_error_class(&class1));
  CHECK_OK(MPI_Add_error_class(&class2));
  for (int i = 0; i < 2; i++) CHECK_OK(MPI_Add_error_code(class1, &codes[i]));
  CHECK_OK(MPI_Add_error_code(MPI_ERR_TAG, &codes[2])); /* of a class of the standard's */
  CHECK(last_used_code() >= codes[2]);
  CHECK_OK(MPI_Add_error_string(class1, "class"));
  for (int i = 0; i < 3; i++) CHECK_OK(MPI_Add_error_string(codes[i], "code"));

  CHECK_OK(MPI_Remove_error_string(codes[0]));
  check_text(codes[0], "");
  CHECK_OK(MPI_Remove_error_string(class1));
  check_text(class1, "");
  check_text(codes[1], "code");
  CHECK_CLASS(MPI_Remove_error_string(codes[0]), MPI_ERR_ARG); /* it has none any more */
  CHECK_OK(MPI_Error_class(codes[0], &class_));                /* without its string it is still there */
  CHECK_EQ(class_, class1);
  CHECK_OK(MPI_Add_error_string(codes[0], "again"));
  check_text(codes[0], "again");

  CHECK_CLASS(MPI_Remove_error_code(class1), MPI_ERR_ARG);    /* a class is no code, */
  CHECK_CLASS(MPI_Remove_error_class(codes[0]), MPI_ERR_ARG); /* a code no class, */
  CHECK_CLASS(MPI_Remove_error_class(class1), MPI_ERR_ARG);   /* and this one has codes */
  CHECK_OK(MPI_Error_class(class1, &class_));
  CHECK_EQ(class_, class1);
  CHECK_CLASS(MPI_Remove_error_code(codes[0]), MPI_ERR_ARG); /* it has a string */
  check_text(codes[0], "again");
  CHECK_OK(MPI_Remove_error_string(codes[0]));
  CHECK_OK(MPI_Remove_error_code(codes[0]));
  check_unknown(codes[0]);
  CHECK_CLASS(MPI_Remove_error_class(class1), MPI_ERR_ARG); /* one is left */
  check_text(codes[1], "code");
  CHECK_OK(MPI_Remove_error_string(codes[1]));
  CHECK_OK(MPI_Remove_error_code(codes[1]));
  CHECK_OK(MPI_Add_error_string(class1, ""));
  CHECK_CLASS(MPI_Remove_error_class(class1), MPI_ERR_ARG); /* an empty string is one, too */
  CHECK_OK(MPI_Remove_error_string(class1));
  CHECK_OK(MPI_Remove_error_class(class1));
  check_unknown(class1);
  check_unknown(codes[1]);
  CHECK_CLASS(MPI_Add_error_code(class1, &of_mine), MPI_ERR_ARG);
  CHECK_OK(MPI_Error_class(codes[2], &class_)); /* the others are as they were */
  CHECK_EQ(class_, MPI_ERR_TAG);
  check_text(codes[2], "code");
  CHECK_OK(MPI_Error_class(class2, &class_));
  CHECK_EQ(class_, class2);

  /* What comes now is nobody's whom the program still has. */
  CHECK_OK(MPI_Add_error_code(class2, &codes[0]));
  CHECK(codes[0] != class2 && codes[0] != codes[2] && codes[0] > MPI_ERR_LASTCODE);
  check_text(codes[0], "");
  CHECK(last_used_code() >= codes[0]);
  CHECK_OK(MPI_Remove_error_code(codes[0]));
  CHECK_OK(MPI_Remove_error_string(codes[2]));
  CHECK_OK(MPI_Remove_error_code(codes[2]));
  CHECK_OK(MPI_Remove_error_class(class2));

  /* The standard's own stay. */
  CHECK_CLASS(MPI_Remove_error_class(MPI_ERR_TAG), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Remove_error_code(MPI_ERR_TAG), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Remove_error_string(MPI_ERR_TAG), MPI_ERR_ARG);
  CHECK_OK(MPI_Error_class(MPI_ERR_TAG, &class_));
  CHECK_EQ(class_, MPI_ERR_TAG);
}

#endif

static int handler_calls, handler_code;
static MPI_Comm handler_comm;

static void handler(MPI_Comm* comm, int* code, ...) {
  handler_calls++;
  handler_comm = *comm;
  handler_code = *code;
}

static void test_handlers(void) {
  MPI_Errhandler mine, got;
  CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  CHECK_OK(MPI_Errhandler_free(&got));
  CHECK(got == MPI_ERRHANDLER_NULL);

  CHECK_OK(MPI_Comm_create_errhandler(handler, &mine));
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, mine));
  CHECK_OK(MPI_Errhandler_free(&mine)); /* stays alive: the communicator has it */
  CHECK(mine == MPI_ERRHANDLER_NULL);
  CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, world_size + 5, 0, comm), MPI_ERR_RANK);
  CHECK_EQ(handler_calls, 1);
  CHECK(handler_comm == comm);
  CHECK_EQ(class_of(handler_code), MPI_ERR_RANK);
  CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
  CHECK_EQ(handler_calls, 2);
  CHECK_EQ(class_of(handler_code), MPI_ERR_OTHER);

  /* A new communicator inherits the handler of the one it is made from. */
  MPI_Comm child;
  CHECK_OK(MPI_Comm_dup(comm, &child));
  CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, child), MPI_ERR_COUNT);
  CHECK_EQ(handler_calls, 3);
  CHECK(handler_comm == child);
  CHECK_OK(MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, child), MPI_ERR_COUNT);
  CHECK_EQ(handler_calls, 3);
  CHECK_OK(MPI_Comm_call_errhandler(child, MPI_ERR_OTHER));
  CHECK_EQ(handler_calls, 3);
  CHECK_OK(MPI_Comm_free(&child));
  CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
  CHECK(got != MPI_ERRORS_RETURN && got != MPI_ERRORS_ARE_FATAL && got != MPI_ERRHANDLER_NULL);
  CHECK_OK(MPI_Errhandler_free(&got));
  CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_strings();
  test_added();
#ifdef MPI_ABI_VERSION
  test_removed();
#endif
  test_handlers();
  return check_end();
}
