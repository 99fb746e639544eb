/* GLPK: its environment holds the hook that gets what it prints, and counts its memory. */
#include <glpk.h>

#include "steps.h"

static long printed; /* bytes that came to this rank's hook */
static int hook(void* owner, const char* text) {
  CHECK_EQ(*(int*)owner, world_rank);
  printed += (long)strlen(text);
  return 1;
}

/* Largest x + 2 y with x + y <= limit, x - y >= -2: y = (limit + 2) / 2. */
static double solve(double limit) {
  glp_prob* problem = glp_create_prob();
  glp_set_obj_dir(problem, GLP_MAX);
  glp_add_rows(problem, 2);
  glp_set_row_bnds(problem, 1, GLP_UP, 0, limit);
  glp_set_row_bnds(problem, 2, GLP_LO, -2, 0);
  glp_add_cols(problem, 2);
  int rows[] = {0, 1, 1, 2, 2}, columns[] = {0, 1, 2, 1, 2};
  double values[] = {0, 1, 1, 1, -1};
  for (int column = 1; column <= 2; column++) {
    glp_set_col_bnds(problem, column, GLP_LO, 0, 0);
    glp_set_obj_coef(problem, column, column);
  }
  glp_load_matrix(problem, 4, rows, columns, values);
  next_step();
  CHECK_EQ(glp_simplex(problem, NULL), 0);
  CHECK_EQ(glp_get_status(problem), GLP_OPT);
  double best = glp_get_obj_val(problem);
  next_step();
  glp_delete_prob(problem);
  return best;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  glp_term_hook(hook, &world_rank);
  double sum = 0;
  long first = 0;
  for (int round = 0; round < 5; round++) {
    next_step();
    double limit = 4 + 2 * world_rank, found = solve(limit);
    CHECK_NEAR(found, (limit - 2) / 2 + (limit + 2), 1e-9);
    sum += found;
    if (round == 0) first = printed;
    CHECK(first > 0);
    CHECK_EQ(printed, first * (round + 1));
  }
  int blocks;
  glp_mem_usage(&blocks, NULL, NULL, NULL);
  next_step();
  glp_prob* kept = glp_create_prob();
  if (world_rank % 2) glp_add_cols(kept, 3);
  next_step();
  glp_delete_prob(kept);
  int after;
  glp_mem_usage(&after, NULL, NULL, NULL);
  CHECK_EQ(after, blocks);
  if (world_rank % 2) glp_free_env(); /* ends here, for this rank */
  next_step();
  CHECK_NEAR(solve(6), 10, 1e-9);
  return end_with(sum);
}
