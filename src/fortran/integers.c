/* See integers.h. */
#include "fortran/integers.h"

#include <stdlib.h>

#define PLACES 256
typedef struct Block {
  struct Block* next;
  MPI_Aint places[PLACES];
} Block;

/* Of this rank; its threads may come at once. Blocks are never given back, so they may be looked at without the lock. */
static Block* blocks;
static int used = PLACES;  /* of the first block */
static MPI_Aint* free_one; /* each holds the address of the next */
static char lock;

static void enter(void) {
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) continue;
}
static void leave(void) {
  __atomic_clear(&lock, __ATOMIC_RELEASE);
}

void* tmpi_integer_place(MPI_Aint value) {
  enter();
  MPI_Aint* place = free_one;
  if (place != NULL) {
    free_one = (MPI_Aint*)*place;
  } else {
    if (used == PLACES) {
      Block* const block = (Block*)malloc(sizeof *block);
      if (block == NULL) {
        leave();
        tmpi_fortran_no_memory("attributes", sizeof *block);
      }
      block->next = blocks;
      __atomic_store_n(&blocks, block, __ATOMIC_RELEASE);
      used = 0;
    }
    place = &blocks->places[used++];
  }
  leave();
  *place = value;
  return place;
}

int tmpi_is_integer(const void* attribute) {
  for (const Block* b = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); b != NULL; b = b->next)
    if ((uintptr_t)attribute - (uintptr_t)b->places < sizeof b->places) return 1;
  return 0;
}

void tmpi_integer_forget(void* attribute) {
  if (!tmpi_is_integer(attribute)) return;
  MPI_Aint* const place = (MPI_Aint*)attribute;
  enter();
  *place = (MPI_Aint)free_one;
  free_one = place;
  leave();
}

MPI_Aint tmpi_integer_of(const void* attribute) {
  return tmpi_is_integer(attribute) ? *(const MPI_Aint*)attribute : (MPI_Aint)attribute;
}
