#include "sched/machine/topology.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "sched/machine/cpu_quota.hpp"

namespace tmpi::sched {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

struct Directory {
  Directory() {
    char name[] = "/tmp/tmpi-quota-XXXXXX";
    path = mkdtemp(name);
  }
  ~Directory() { fs::remove_all(path); }
  fs::path path;
};

TEST_CASE("places are allowed CPUs, each once, cores before siblings") {
  auto topology = Topology::discover();
  REQUIRE(topology);
  CHECK(topology->cores >= 1);
  CHECK(static_cast<int>(topology->places.size()) >= topology->cores);
  std::set<int> pus, cores;
  for (std::size_t i = 0; i < topology->places.size(); ++i) {
    pus.insert(topology->places[i].pu);
    if (static_cast<int>(i) < topology->cores) cores.insert(topology->places[i].core);
  }
  CHECK(pus.size() == topology->places.size());
  CHECK(static_cast<int>(cores.size()) == topology->cores);
  CHECK(available_cores() >= 1);
  CHECK(available_cores() <= topology->cores);
}

TEST_CASE("pinning narrows what is seen, and is undone") {
  std::thread([] {
    auto before = Topology::discover();
    REQUIRE(before);
    {
      const SavedAffinity saved;
      const Place place = before->places.back();
      REQUIRE(pin_to({&place, 1}));
      auto pinned = Topology::discover();
      REQUIRE(pinned);
      CHECK(pinned->places.size() == 1);
      CHECK(pinned->places[0].pu == place.pu);
      CHECK(cpu_limit() <= 1);
    }
    auto after = Topology::discover();
    REQUIRE(after);
    CHECK(after->places.size() == before->places.size());
  }).join();
}

TEST_CASE("cgroup version 2: the tightest limit on the way up") {
  const Directory root;
  write(root.path / "self", "0::/job/step\n");
  CHECK(std::isinf(cgroup_cpu_quota(root.path / "self", root.path)));
  write(root.path / "job/step/cpu.max", "max 100000\n");
  CHECK(std::isinf(cgroup_cpu_quota(root.path / "self", root.path)));
  write(root.path / "job/cpu.max", "150000 100000\n");
  CHECK(cgroup_cpu_quota(root.path / "self", root.path) == doctest::Approx(1.5));
  write(root.path / "cpu.max", "50000 100000\n");
  CHECK(cgroup_cpu_quota(root.path / "self", root.path) == doctest::Approx(0.5));
}

TEST_CASE("cgroup version 1") {
  const Directory root;
  write(root.path / "self", "5:memory:/x\n4:cpu,cpuacct:/docker/a\n");
  write(root.path / "cpu/docker/a/cpu.cfs_quota_us", "-1\n");
  write(root.path / "cpu/docker/a/cpu.cfs_period_us", "100000\n");
  CHECK(std::isinf(cgroup_cpu_quota(root.path / "self", root.path)));
  write(root.path / "cpu/docker/a/cpu.cfs_quota_us", "250000\n");
  CHECK(cgroup_cpu_quota(root.path / "self", root.path) == doctest::Approx(2.5));
}

TEST_CASE("a machine without control groups has no quota") {
  CHECK(std::isinf(cgroup_cpu_quota("/nonexistent", "/nonexistent")));
}

}  // namespace
}  // namespace tmpi::sched
