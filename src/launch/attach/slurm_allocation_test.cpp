#include "launch/attach/slurm_allocation.hpp"

#include <doctest/doctest.h>

using namespace tmpi::launch;
using Counts = std::vector<int>;

TEST_CASE("counts per node as Slurm writes them") {
  CHECK(expand_counts("4") == Counts{4});
  CHECK(expand_counts("2(x3),1") == Counts{2, 2, 2, 1});
  CHECK(expand_counts("1,16(x2),3") == Counts{1, 16, 16, 3});
  for (const char* text : {"", "x", "2(x", "2(x3", "2(x0)", "0", "-1", "2 3", "2(x3)4", "2(x99999999)"}) {
    CAPTURE(std::string(text));
    CHECK(expand_counts(text).empty());
  }
}

TEST_CASE("Slurm is asked in an allocation, but not to start on the node where tmpirun runs anyway") {
  Environment environment;
  CHECK_FALSE(slurm_is_needed(environment));
  environment["SLURM_JOB_ID"] = "7";
  CHECK_FALSE(slurm_is_needed(environment));
  environment["SLURM_JOB_NODELIST"] = "node[1-2]";
  environment["SLURM_JOB_NUM_NODES"] = "2";
  CHECK(slurm_is_needed(environment));
  environment["SLURMD_NODENAME"] = "node1";
  CHECK(slurm_is_needed(environment));
  environment["SLURM_JOB_NUM_NODES"] = "1";
  CHECK_FALSE(slurm_is_needed(environment));
  environment.erase("SLURMD_NODENAME");  // salloc on a login node
  CHECK(slurm_is_needed(environment));
}
