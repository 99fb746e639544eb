/* Attributes of datatypes, predefined ones included. MPI report, 7.7.4. */
#include "check.h"

static int copies, deletes, refuse;

static int copy(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  (void)key;
  CHECK(type != MPI_DATATYPE_NULL);
  copies++;
  if (refuse) return MPI_ERR_OTHER;
  *(void**)out = (char*)in + *(int*)extra;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_value(MPI_Datatype type, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  CHECK(type != MPI_DATATYPE_NULL);
  if (refuse) return MPI_ERR_OTHER;
  deletes++;
  return MPI_SUCCESS;
}

static char* value_of(MPI_Datatype type, int key) {
  char* value = NULL;
  int flag = -1;
  CHECK_OK(MPI_Type_get_attr(type, key, &value, &flag));
  return flag ? value : NULL;
}

static char data[8];

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int key, always, step = 2, comm_key;
  MPI_Datatype type, dup, derived;
  CHECK_OK(MPI_Type_create_keyval(copy, delete_value, &key, &step));
  CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &always, NULL));
  CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &type)); /* an uncommitted type may carry attributes */
  CHECK(value_of(type, key) == NULL);
  CHECK_OK(MPI_Type_set_attr(type, key, data));
  CHECK_OK(MPI_Type_set_attr(type, always, data + 1));
  CHECK_OK(MPI_Type_dup(type, &dup));
  CHECK_EQ(copies, 1);
  CHECK(value_of(dup, key) == data + 2 && value_of(dup, always) == data + 1);
  CHECK_OK(MPI_Type_contiguous(2, type, &derived)); /* does not copy */
  CHECK_EQ(copies, 1);
  CHECK(value_of(derived, key) == NULL);
  CHECK_OK(MPI_Type_free(&derived));
  CHECK_EQ(deletes, 0);
  CHECK_OK(MPI_Type_free(&dup));
  CHECK_EQ(deletes, 1);
  CHECK_OK(MPI_Type_set_attr(type, key, data + 3));
  CHECK_EQ(deletes, 2);

  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  refuse = 1;
  CHECK_CLASS(MPI_Type_delete_attr(type, key), MPI_ERR_OTHER);
  CHECK_CLASS(MPI_Type_dup(type, &dup), MPI_ERR_OTHER);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_OTHER);
  CHECK(type != MPI_DATATYPE_NULL && value_of(type, key) == data + 3);
#endif
  refuse = 0;
  CHECK_OK(MPI_Type_delete_attr(type, key));
  CHECK_EQ(deletes, 3);
  CHECK(value_of(type, key) == NULL);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Type_delete_attr(type, key), MPI_ERR_KEYVAL);
#endif
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL));
  CHECK_CLASS(MPI_Type_set_attr(type, comm_key, data), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Type_set_attr(MPI_DATATYPE_NULL, key, data), MPI_ERR_TYPE);
  CHECK_OK(MPI_Comm_free_keyval(&comm_key));
  CHECK_OK(MPI_Type_free(&type));

  /* Those of a predefined type are the rank's own. */
  CHECK_OK(MPI_Type_set_attr(MPI_INT, key, data + world_rank % 4));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(value_of(MPI_INT, key) == data + world_rank % 4);
  CHECK(value_of(MPI_DOUBLE, key) == NULL);
  CHECK_OK(MPI_Type_dup(MPI_INT, &dup));
  CHECK(value_of(dup, key) == data + world_rank % 4 + 2);
  CHECK_OK(MPI_Type_free(&dup));
  CHECK_OK(MPI_Type_delete_attr(MPI_INT, key));

#ifdef MPI_ABI_VERSION
  /* Handles that MPI_Type_get_contents returns are freed without touching the type's attributes. */
  int integers[8], combiner, counts[3];
  MPI_Aint addresses[4];
  CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
  CHECK_OK(MPI_Type_set_attr(type, key, data));
  CHECK_OK(MPI_Type_contiguous(2, type, &derived));
  CHECK_OK(MPI_Type_get_envelope(derived, &counts[0], &counts[1], &counts[2], &combiner));
  CHECK_OK(MPI_Type_get_contents(derived, counts[0], counts[1], counts[2], integers, addresses, &dup));
  deletes = 0;
  CHECK_OK(MPI_Type_free(&dup));
  CHECK_EQ(deletes, 0);
  CHECK(value_of(type, key) == data);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_EQ(deletes, 1);
  CHECK_OK(MPI_Type_free(&derived));
#endif
  CHECK_OK(MPI_Type_free_keyval(&key));
  CHECK_OK(MPI_Type_free_keyval(&always));
  return check_end();
}
