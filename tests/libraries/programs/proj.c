/* PROJ: the default context, which keeps its last error, its logger and its database for whoever passes none. */
#include <proj.h>

#include "steps.h"

static int messages; /* that this rank's logger got */
static void count(void* owner, int level, const char* text) {
  (void)level, (void)text;
  CHECK_EQ(*(int*)owner, world_rank);
  messages++;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  proj_log_func(NULL, &world_rank, count);
  proj_log_level(NULL, PJ_LOG_ERROR);
  proj_context_use_proj4_init_rules(NULL, world_rank % 2);
  double east = 0;
  for (int round = 0; round < 4; round++) {
    next_step();
    CHECK_EQ(proj_context_get_use_proj4_init_rules(NULL, 0), world_rank % 2);
    char zone[64];
    snprintf(zone, sizeof zone, "+proj=utm +zone=%d +datum=WGS84 +units=m", 1 + world_rank % 60);
    PJ* utm = proj_create_crs_to_crs(NULL, "EPSG:4326", zone, NULL);
    CHECK(utm != NULL);
    next_step();
    /* On the zone's middle meridian. */
    PJ_COORD there = proj_trans(utm, PJ_FWD, proj_coord(45, -177 + 6 * (world_rank % 60), 0, 0));
    CHECK_NEAR(there.xy.x, 500000, 1e-3);
    CHECK_NEAR(there.xy.y, 4982950.4, 1);
    east = there.xy.y;
    if (world_rank % 3 == 0) {
      CHECK(proj_create(NULL, "+proj=nonsense") == NULL);
      CHECK(messages > 0);
    }
    next_step();
    CHECK_EQ(proj_context_errno(NULL) != 0, world_rank % 3 == 0);
    CHECK_EQ(messages > 0, world_rank % 3 == 0);
    proj_destroy(utm);
  }
  next_step();
  if (world_rank % 2) proj_cleanup(); /* ends here, for this rank */
  next_step();
  PJ* again = proj_create(NULL, "EPSG:3857");
  CHECK(again != NULL);
  proj_destroy(again);
  return end_with(east);
}
