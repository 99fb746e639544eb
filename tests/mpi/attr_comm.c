/* Attributes of communicators: keys, copy and delete callbacks, their order and their errors, predefined
 * attributes, and what happens to those of MPI_COMM_SELF in MPI_Finalize. MPI report, 7.7, 9.1.2, 11.2.4. */
#include "check.h"

#define MOST 16
static struct { int key[MOST], count; } copied, deleted;
static int refuse_copy, refuse_delete;

static int copy_plus_one(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  CHECK(comm != MPI_COMM_NULL && copied.count < MOST);
  copied.key[copied.count++] = key;
  if (refuse_copy) return MPI_ERR_OTHER;
  *(void**)out = (char*)in + 1;
  *flag = extra == NULL || *(int*)extra != 0;
  return MPI_SUCCESS;
}

static int delete_note(MPI_Comm comm, int key, void* value, void* extra) {
  (void)value, (void)extra;
  CHECK(comm != MPI_COMM_NULL && deleted.count < MOST);
  if (refuse_delete) return MPI_ERR_OTHER;
  deleted.key[deleted.count++] = key;
  return MPI_SUCCESS;
}

static void reset(void) {
  memset(&copied, 0, sizeof copied);
  memset(&deleted, 0, sizeof deleted);
}

static char* value_of(MPI_Comm comm, int key) {
  char* value = NULL;
  int flag = -1;
  CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
  CHECK(flag == 0 || flag == 1);
  return flag ? value : NULL;
}

static char data[8];

static void test_callbacks(MPI_Comm comm) {
  int never, always, mine, refused, no = 0;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_note, &never, NULL));
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &always, NULL));
  CHECK_OK(MPI_Comm_create_keyval(copy_plus_one, delete_note, &mine, NULL));
  CHECK_OK(MPI_Comm_create_keyval(copy_plus_one, delete_note, &refused, &no)); /* flag = 0 */
  CHECK(value_of(comm, mine) == NULL);
  CHECK_OK(MPI_Comm_set_attr(comm, mine, data));
  CHECK_OK(MPI_Comm_set_attr(comm, never, data + 1));
  CHECK_OK(MPI_Comm_set_attr(comm, always, data + 2));
  CHECK_OK(MPI_Comm_set_attr(comm, refused, data + 3));
  CHECK(value_of(comm, mine) == data && value_of(comm, never) == data + 1);

  MPI_Comm dup, dup2;
  reset();
  CHECK_OK(MPI_Comm_dup(comm, &dup));
  CHECK_EQ(copied.count, 2);
  CHECK(value_of(dup, mine) == data + 1);
  CHECK(value_of(dup, never) == NULL);
  CHECK(value_of(dup, always) == data + 2);
  CHECK(value_of(dup, refused) == NULL);
  CHECK_OK(MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &dup2));
  CHECK(value_of(dup2, mine) == data + 2);
  CHECK_EQ(deleted.count, 0);
  CHECK_OK(MPI_Comm_free(&dup2));
  CHECK_EQ(deleted.count, 1);
  CHECK_EQ(deleted.key[0], mine);

  /* A value that is replaced is deleted. */
  CHECK_OK(MPI_Comm_set_attr(dup, mine, data + 4));
  CHECK_EQ(deleted.count, 2);
  CHECK(value_of(dup, mine) == data + 4);
  CHECK_OK(MPI_Comm_delete_attr(dup, mine));
  CHECK_EQ(deleted.count, 3);
  CHECK(value_of(dup, mine) == NULL);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Comm_delete_attr(dup, mine), MPI_ERR_KEYVAL);
#endif

  /* A split does not copy. */
  reset();
  CHECK_OK(MPI_Comm_split(comm, 0, world_rank, &dup2));
  CHECK_EQ(copied.count, 0);
  CHECK(value_of(dup2, mine) == NULL && value_of(dup2, always) == NULL);
  CHECK_OK(MPI_Comm_free(&dup2));
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_EQ(deleted.count, 0);

  /* The last that was set is deleted first. */
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
  CHECK_OK(MPI_Comm_set_attr(dup, refused, NULL));
  CHECK_OK(MPI_Comm_set_attr(dup, never, NULL));
  CHECK_OK(MPI_Comm_set_attr(dup, mine, NULL));
  reset();
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_EQ(deleted.count, 3);
#ifdef MPI_ABI_VERSION
  CHECK_EQ(deleted.key[0], mine);
  CHECK_EQ(deleted.key[1], never);
  CHECK_EQ(deleted.key[2], refused);
#endif

  CHECK_OK(MPI_Comm_delete_attr(comm, mine));
  CHECK_OK(MPI_Comm_delete_attr(comm, never));
  CHECK_OK(MPI_Comm_delete_attr(comm, always));
  CHECK_OK(MPI_Comm_delete_attr(comm, refused));
  CHECK_OK(MPI_Comm_free_keyval(&mine));
  CHECK_EQ(mine, MPI_KEYVAL_INVALID);
  CHECK_OK(MPI_Comm_free_keyval(&never));
  CHECK_OK(MPI_Comm_free_keyval(&always));
  CHECK_OK(MPI_Comm_free_keyval(&refused));
}

/* A key that is freed lives on where it has attributes. */
static void test_freed_key(void) {
  MPI_Comm comm, dup;
  int key, again;
  CHECK_OK(MPI_Comm_create_keyval(copy_plus_one, delete_note, &key, NULL));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_attr(comm, key, data));
  const int copy = key;
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_OK(MPI_Comm_create_keyval(copy_plus_one, delete_note, &again, NULL));
  CHECK(again != copy);
  reset();
  CHECK_OK(MPI_Comm_dup(comm, &dup));
  CHECK_EQ(copied.count, 1);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_EQ(deleted.count, 2);
  CHECK_EQ(deleted.key[0], copy);
  CHECK_EQ(deleted.key[1], copy);
  CHECK_OK(MPI_Comm_free_keyval(&again));
}

/* Until the last attribute with it is deleted, a key may be freed more than once: delete callbacks do it. */
static int delete_and_free(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)value, (void)extra;
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  return MPI_SUCCESS;
}

static void test_key_freed_by_callbacks(void) {
  MPI_Comm first, second;
  int key;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_and_free, &key, NULL));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &second));
  CHECK_OK(MPI_Comm_set_attr(first, key, data));
  CHECK_OK(MPI_Comm_set_attr(second, key, data));
  int in_use = key, gone = key;
  CHECK_OK(MPI_Comm_free(&first));
  CHECK_OK(MPI_Comm_free_keyval(&in_use));
  CHECK_CLASS(MPI_Type_free_keyval(&key), MPI_ERR_KEYVAL);
  CHECK_OK(MPI_Comm_free(&second));
  CHECK_CLASS(MPI_Comm_free_keyval(&gone), MPI_ERR_KEYVAL);
}

/* A callback that refuses makes the call fail, and the attribute stays. */
static void test_refusal(void) {
  MPI_Comm comm, dup = MPI_COMM_SELF;
  int key;
  CHECK_OK(MPI_Comm_create_keyval(copy_plus_one, delete_note, &key, NULL));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_attr(comm, key, data));
  refuse_delete = 1;
  CHECK_CLASS(MPI_Comm_delete_attr(comm, key), MPI_ERR_OTHER);
  CHECK_CLASS(MPI_Comm_set_attr(comm, key, data + 1), MPI_ERR_OTHER);
  CHECK(value_of(comm, key) == data);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_OTHER);
  CHECK(comm != MPI_COMM_NULL);
  CHECK(value_of(comm, key) == data);
#endif
  refuse_delete = 0;
  refuse_copy = 1;
  CHECK_CLASS(MPI_Comm_dup(comm, &dup), MPI_ERR_OTHER);
#ifdef MPI_ABI_VERSION
  CHECK(dup == MPI_COMM_NULL);
#endif
  refuse_copy = 0;
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_free_keyval(&key));
}

static int copy_with_barrier(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)key, (void)extra;
  int sum = 0, one = 1, size;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_EQ(sum, size);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

/* A callback that removes another attribute of the object, and the one it is called for. */
static int other_key;
static int delete_other(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  if (value_of(comm, other_key) != NULL) CHECK_OK(MPI_Comm_delete_attr(comm, other_key));
  return MPI_SUCCESS;
}

static void test_calls_in_callbacks(void) {
  MPI_Comm comm, dup;
  int key;
  CHECK_OK(MPI_Comm_create_keyval(copy_with_barrier, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_attr(comm, key, data));
  CHECK_OK(MPI_Comm_dup(comm, &dup));
  CHECK(value_of(dup, key) == data);
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_free_keyval(&key));
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_note, &other_key, NULL));
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_other, &key, NULL));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Comm_set_attr(comm, other_key, data));
  CHECK_OK(MPI_Comm_set_attr(comm, key, data));
  reset();
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_EQ(deleted.count, 1);
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_OK(MPI_Comm_free_keyval(&other_key));
#endif
}

static int predefined(MPI_Comm comm, int key) {
  int *value = NULL, flag = -1;
  CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
  CHECK_EQ(flag, 1);
  return *value;
}

static void test_predefined(void) {
  const int most = predefined(MPI_COMM_WORLD, MPI_TAG_UB);
  CHECK(most >= 32767);
  if (most < 0x7fffffff)
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, world_rank, most + 1, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_EQ(predefined(MPI_COMM_WORLD, MPI_HOST), MPI_PROC_NULL);
  const int io = predefined(MPI_COMM_WORLD, MPI_IO), global = predefined(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL);
  CHECK(io == MPI_ANY_SOURCE || io == MPI_PROC_NULL || (io >= 0 && io < world_size));
  CHECK(global == 0 || global == 1);
  int *value = NULL, flag = -1;
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
  if (flag) CHECK_EQ(*value, 0);
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
  if (flag) CHECK(*value >= world_size);
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
  CHECK_EQ(flag, 1);
  const int before = *value;
  int class_;
  CHECK(before >= MPI_ERR_LASTCODE);
  CHECK_OK(MPI_Add_error_class(&class_));
  CHECK(predefined(MPI_COMM_WORLD, MPI_LASTUSEDCODE) >= class_ && class_ > before);
}

static void test_errors(void) {
  MPI_Comm comm;
  int key, flag, tag_ub = MPI_TAG_UB, invalid = MPI_KEYVAL_INVALID;
  void* value;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_CLASS(MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_free_keyval(&invalid), MPI_ERR_KEYVAL);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Comm_set_attr(comm, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_delete_attr(comm, MPI_UNIVERSE_SIZE), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_free_keyval(&tag_ub), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_get_attr(comm, 123456, &value, &flag), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL),
              MPI_ERR_ARG);
#endif
  CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
  CHECK_CLASS(MPI_Comm_set_attr(comm, key, NULL), MPI_ERR_KEYVAL);
  CHECK_OK(MPI_Type_free_keyval(&key));
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_NULL, key, NULL), MPI_ERR_COMM);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Comm_get_attr(comm, key, NULL, &flag), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_get_attr(comm, key, &value, NULL), MPI_ERR_ARG);
#endif
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_OK(MPI_Comm_free(&comm));
}

/* The names of MPI-1. */
static void test_deprecated(void) {
  int key, flag;
  void* value;
  MPI_Comm dup;
  CHECK_OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL));
  CHECK_OK(MPI_Attr_put(MPI_COMM_WORLD, key, data));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  CHECK_OK(MPI_Attr_get(dup, key, &value, &flag));
  CHECK(flag && value == data);
  CHECK_OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
  CHECK_OK(MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Keyval_free(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

static int ended[3], ends;
static int at_finalize(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)extra;
  int size = 0, finalized = 1;
  MPI_Comm_size(comm, &size); /* MPI works as before */
  MPI_Finalized(&finalized);
  ended[ends++] = size == 1 && !finalized ? (int)(intptr_t)value : -1;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test_callbacks(MPI_COMM_WORLD);
  test_freed_key();
  test_key_freed_by_callbacks();
  test_refusal();
  test_calls_in_callbacks();
  test_predefined();
  test_deprecated();
  test_errors();
  int key[3];
  for (int i = 0; i < 3; i++) {
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key[i], NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key[i], (void*)(intptr_t)(i + 1)));
  }
  const int code = check_end();
  if (ends != 3 || ended[0] != 3 || ended[1] != 2 || ended[2] != 1) {
    fprintf(stderr, "FAILED rank %d: %d attributes of MPI_COMM_SELF deleted: %d %d %d, should be 3 2 1\n",
            world_rank, ends, ended[0], ended[1], ended[2]);
    return 1;
  }
  return code;
}
