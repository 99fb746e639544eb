// C++ exceptions of the program's callbacks. An error handler may throw: the call of MPI that failed is left, and
// MPI goes on. From other callbacks no exception can pass through MPI: the job ends with a sentence.
//
// Without memory, too, no exception but the program's own comes out of MPI.
//
//   throws handler|operator|copy|delete|query|abort|fatal|called
#include <mpi.h>

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace {

int rank;

void on_error(MPI_Comm*, int* code, ...) {
  throw std::runtime_error("thrown by the handler, code " + std::to_string(*code));
}

void handler() {
  MPI_Errhandler made;
  MPI_Comm_create_errhandler(on_error, &made);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);
  int caught = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      MPI_Send(&i, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    } catch (const std::runtime_error&) {
      ++caught;
    }
    try {
      MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  // A request that fails when it is waited for.
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_set_errhandler(own, made);
  MPI_Errhandler_free(&made);
  const int two[2] = {1, 2};
  int one = 0;
  MPI_Request request;
  MPI_Irecv(&one, 1, MPI_INT, 0, 0, own, &request);
  MPI_Send(two, 2, MPI_INT, 0, 0, own);
  try {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } catch (const std::runtime_error&) {
    ++caught;
  }
  MPI_Comm_free(&own);
  int all = 0;
  MPI_Allreduce(&caught, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d exceptions caught\n", all);
}

void combine(void*, void*, int*, MPI_Datatype*) {
  throw std::bad_alloc();
}
void reduce() {
  MPI_Op op;
  MPI_Op_create(combine, 1, &op);
  int mine = 1, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
}

int copy(MPI_Comm, int, void*, void*, void*, int*) {
  throw 5;
}
int destroy(MPI_Comm, int, void*, void*) {
  throw std::logic_error("thrown by the delete function");
}
void attributes(bool copied) {
  int key;
  MPI_Comm_create_keyval(copied ? copy : MPI_COMM_NULL_COPY_FN, copied ? MPI_COMM_NULL_DELETE_FN : destroy,
                         &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &rank);
  MPI_Comm made;
  if (copied) MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
}

int query(void*, MPI_Status*) {
  throw std::runtime_error("thrown by the query function");
}
int nothing(void*) {
  return MPI_SUCCESS;
}
int nothing(void*, int) {
  return MPI_SUCCESS;
}
void generalized() {
  MPI_Request request;
  MPI_Grequest_start(query, nothing, nothing, nullptr, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// All memory that there is.
void fill() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1;  // what is there stays, and nothing is added
  setrlimit(RLIMIT_AS, &limit);
  for (std::size_t size = std::size_t{1} << 24; size > 0; size /= 2) {
    while (void* taken = std::malloc(size)) *static_cast<void* volatile*>(taken) = taken;
  }
}

void without_memory(const char* what) {
  try {
    fill();
    try {
      for (;;) *static_cast<void* volatile*>(::operator new(100)) = nullptr;
    } catch (const std::bad_alloc&) {
      if (std::strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
      if (std::strcmp(what, "fatal") == 0) MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
      if (std::strcmp(what, "called") == 0) MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    }
  } catch (...) {
    std::fputs("an exception has come out of MPI\n", stderr);
    std::_Exit(99);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "handler") == 0) handler();
  if (std::strcmp(what, "operator") == 0) reduce();
  if (std::strcmp(what, "copy") == 0) attributes(true);
  if (std::strcmp(what, "delete") == 0) attributes(false);
  if (std::strcmp(what, "query") == 0) generalized();
  if (std::strcmp(what, "abort") == 0 || std::strcmp(what, "fatal") == 0 || std::strcmp(what, "called") == 0)
    without_memory(what);
  MPI_Finalize();
  return 0;
}
