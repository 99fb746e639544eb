/* udunits: the status of the last call, the handler of messages, and the tables of units are the library's. */
#include <stdarg.h>
#include <udunits2.h>

#include "steps.h"

static int messages;
static int count(const char* format, va_list arguments) {
  (void)format, (void)arguments;
  return ++messages;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  ut_set_error_message_handler(world_rank % 3 == 0 ? count : ut_ignore);
  ut_system* units = ut_read_xml(NULL);
  CHECK(units != NULL);
  messages = 0;
  double found = 0;
  for (int round = 0; round < 5; round++) {
    next_step();
    ut_unit* from = ut_parse(units, world_rank % 2 ? "km/hour" : "knot", UT_ASCII);
    ut_unit* to = ut_parse(units, "m/s", UT_ASCII);
    CHECK_EQ(ut_get_status(), UT_SUCCESS);
    next_step();
    cv_converter* converter = ut_get_converter(from, to);
    CHECK(converter != NULL);
    found = cv_convert_double(converter, 3600 * (1 + world_rank));
    CHECK_NEAR(found, (world_rank % 2 ? 1000.0 : 1852.0) * (1 + world_rank), 1e-8 * (1 + world_rank) * 1852);
    cv_free(converter);
    ut_free(from);
    ut_free(to);
    next_step();
    if (world_rank % 2)
      CHECK(ut_parse(units, "no such unit", UT_ASCII) == NULL);
    else
      ut_free(ut_parse(units, "kelvin", UT_ASCII));
    next_step();
    CHECK_EQ(ut_get_status(), world_rank % 2 ? UT_UNKNOWN : UT_SUCCESS);
    if (world_rank % 3 == 0) ut_get_name(NULL, UT_ASCII); /* is complained of */
    CHECK_EQ(messages, world_rank % 3 == 0 ? round + 1 : 0);
  }
  ut_free_system(units);
  return end_with(found);
}
