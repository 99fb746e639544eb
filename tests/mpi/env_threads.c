/* Thread levels: MPI_Init_thread, MPI_Query_thread, MPI_Is_thread_main. What is provided is at most MULTIPLE
 * and never less than SINGLE. */
#include "check.h"

int main(int argc, char** argv) {
  static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                               MPI_THREAD_MULTIPLE};
  int wanted = levels[argc > 1 ? atoi(argv[1]) % 4 : 3], provided = -1, queried = -1, is_main = 0;
  CHECK_OK(MPI_Init_thread(&argc, &argv, wanted, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED &&
        MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
  CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
#ifdef MPI_ABI_VERSION
  CHECK(provided >= MPI_THREAD_SERIALIZED || provided >= wanted);
#endif
  CHECK_OK(MPI_Query_thread(&queried));
  CHECK_EQ(queried, provided);
  CHECK_OK(MPI_Is_thread_main(&is_main));
  CHECK(is_main);
  return check_end();
}
