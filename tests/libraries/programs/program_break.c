/* The program break, of which allocators such as tcmalloc take memory: what a rank gets nobody else gets. */
#include "steps.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  enum { Rounds = 20, Piece = 50000 };
  unsigned char* pieces[Rounds];
  for (int round = 0; round < Rounds; round++) {
    next_step();
    pieces[round] = sbrk(Piece);
    CHECK(pieces[round] != (void*)-1);
    for (int i = 0; i < Piece; i++) CHECK(pieces[round][i] == 0);
    memset(pieces[round], 1 + world_rank, Piece);
  }
  next_step();
  for (int round = 0; round < Rounds; round++)
    for (int i = 0; i < Piece; i++) CHECK_EQ(pieces[round][i], 1 + world_rank);
  unsigned char* top = sbrk(0);
  CHECK(sbrk(100000) == top && brk(top + 5) == 0 && sbrk(0) == top + 5);
  CHECK(sbrk((intptr_t)1 << 46) == (void*)-1);
  return end_with(world_rank);
}
