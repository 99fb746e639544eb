/* METIS: its random numbers are those of rand(): ranks with the same seed get the same partition. */
#include <metis.h>

#include "steps.h"

enum { Side = 40, Vertices = Side * Side, Parts = 5 };

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  static idx_t start[Vertices + 1], neighbour[4 * Vertices], part[Vertices], first[Vertices];
  idx_t edges = 0;
  for (idx_t v = 0; v < Vertices; v++) {
    start[v] = edges;
    if (v % Side > 0) neighbour[edges++] = v - 1;
    if (v % Side < Side - 1) neighbour[edges++] = v + 1;
    if (v >= Side) neighbour[edges++] = v - Side;
    if (v < Vertices - Side) neighbour[edges++] = v + Side;
  }
  start[Vertices] = edges;
  idx_t options[METIS_NOPTIONS], vertices = Vertices, constraints = 1, parts = Parts, cut = 0;
  METIS_SetDefaultOptions(options);
  double sum = 0;
  for (int round = 0; round < 6; round++) {
    next_step();
    options[METIS_OPTION_SEED] = 7 + round;
    CHECK_EQ((round % 2 ? METIS_PartGraphKway : METIS_PartGraphRecursive)(&vertices, &constraints, start,
                                                                          neighbour, NULL, NULL, NULL, &parts,
                                                                          NULL, NULL, options, &cut, part),
             METIS_OK);
    memcpy(first, part, sizeof part);
    CHECK_OK(MPI_Bcast(first, Vertices, MPI_INT32_T, 0, MPI_COMM_WORLD));
    CHECK(memcmp(first, part, sizeof part) == 0);
    idx_t found = 0;
    for (idx_t v = 0; v < Vertices; v++)
      for (idx_t e = start[v]; e < start[v + 1]; e++) found += part[v] != part[neighbour[e]];
    CHECK_EQ(found, 2 * cut);
    sum += cut;
  }
  return end_with(sum);
}
