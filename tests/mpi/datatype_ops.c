/* Operators: MPI_Reduce_local with predefined and user-defined operators, commutativity, and which types an
 * operator refuses. */
#include "check.h"

#include <complex.h>
#include <stdbool.h>

struct located {
  double value;
  int index;
};

static void predefined(void) {
  int a[] = {6, 0, -3}, b[] = {3, 5, -9};
  CHECK_OK(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM));
  CHECK(b[0] == 9 && b[1] == 5 && b[2] == -12);
  CHECK_OK(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_BXOR));
  CHECK(b[0] == (6 ^ 9) && b[1] == 5 && b[2] == (-3 ^ -12));
  CHECK_OK(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_LAND));
  CHECK(b[0] == 1 && b[1] == 0 && b[2] == 1);
  struct located x[] = {{1.5, 4}, {2.0, 1}}, y[] = {{1.5, 2}, {3.0, 0}};
  CHECK_OK(MPI_Reduce_local(x, y, 2, MPI_DOUBLE_INT, MPI_MINLOC));
  CHECK(y[0].value == 1.5 && y[0].index == 2 && y[1].value == 2.0 && y[1].index == 1);
  double complex p[] = {1 + 2 * I}, q[] = {3 - 1 * I};
  CHECK_OK(MPI_Reduce_local(p, q, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD));
  CHECK(q[0] == (1 + 2 * I) * (3 - 1 * I));
  bool t[] = {true, false}, f[] = {false, false};
  CHECK_OK(MPI_Reduce_local(t, f, 2, MPI_C_BOOL, MPI_LOR));
  CHECK(f[0] && !f[1]);
}

static int calls; /* a rank's own: user functions run as their rank */
static MPI_Datatype seen;

static void subtract(void* in, void* inout, int* length, MPI_Datatype* type) {
  ++calls;
  seen = *type;
  for (int i = 0; i < 2 * *length; i++) ((int*)inout)[i] = ((int*)in)[i] - ((int*)inout)[i];
}

static void user_defined(void) {
  MPI_Op op;
  MPI_Datatype type;
  int a[] = {10, 20, 30, 40}, b[] = {1, 2, 3, 4}, commute = 1;
  CHECK_OK(MPI_Op_create(subtract, 0, &op));
  CHECK_OK(MPI_Op_commutative(op, &commute));
  CHECK_EQ(commute, 0);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  CHECK_OK(MPI_Reduce_local(a, b, 2, type, op));
  CHECK_EQ(calls, 1);
  CHECK(seen == type);
  CHECK(b[0] == 9 && b[3] == 36);
  CHECK_OK(MPI_Op_free(&op));
  CHECK(op == MPI_OP_NULL);
  MPI_Type_free(&type);
  CHECK_OK(MPI_Op_commutative(MPI_SUM, &commute));
  CHECK_EQ(commute, 1);
}

static void errors(void) {
  MPI_Op null = MPI_OP_NULL, sum = MPI_SUM;
  int a[2] = {0}, b[2] = {0};
  double d[1] = {0}, e[1] = {0};
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Op_free(&null), MPI_ERR_OP);
  CHECK_CLASS(MPI_Op_free(&sum), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce_local(d, e, 1, MPI_DOUBLE, MPI_BAND), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_MAXLOC), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Reduce_local(a, b, 1, MPI_BYTE, MPI_SUM), MPI_ERR_OP);
  CHECK_CLASS(MPI_Op_create(NULL, 1, &sum), MPI_ERR_ARG);
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  predefined();
  user_defined();
  errors();
  return check_end();
}
