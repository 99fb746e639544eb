// Groups against a naive model: a vector of world ranks.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "mpi/comm/group_ops.hpp"

namespace tmpi::mpi {
namespace {

using Model = std::vector<int>;

bool has(const Model& model, int world) {
  return std::find(model.begin(), model.end(), world) != model.end();
}

Model listed(const Group& group) {
  Model model;
  for (int rank = 0; rank < group.size(); ++rank) model.push_back(group.world_rank(rank));
  return model;
}

Model random_model(std::mt19937& random) {
  const int kind = static_cast<int>(random() % 4);
  const int first = static_cast<int>(random() % 20), count = static_cast<int>(random() % 12);
  Model model;
  if (kind < 2) {  // a range, upwards or downwards
    const int stride = static_cast<int>(random() % 3) + 1;
    for (int i = 0; i < count; ++i) model.push_back(first + i * stride);
    if (kind == 1) std::reverse(model.begin(), model.end());
    return model;
  }
  for (int world = 0; world < 40; ++world) model.push_back(world);
  std::shuffle(model.begin(), model.end(), random);
  model.resize(static_cast<std::size_t>(count));
  return model;
}

int model_compare(const Model& a, const Model& b) {
  if (a == b) return MPI_IDENT;
  Model x = a, y = b;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y ? MPI_SIMILAR : MPI_UNEQUAL;
}

TEST_CASE("groups behave like lists of ranks") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const Model a = random_model(random), b = round % 3 == 0 ? [&] {
      Model c = a;
      std::shuffle(c.begin(), c.end(), random);
      return c;
    }() : random_model(random);
    const GroupPtr x = Group::list(a), y = Group::list(b);
    REQUIRE(listed(*x) == a);
    for (int world = -3; world < 60; ++world) {
      const auto at = std::find(a.begin(), a.end(), world);
      REQUIRE(x->rank_of(world) == (at == a.end() ? MPI_UNDEFINED : static_cast<int>(at - a.begin())));
    }
    Model both = a, common, rest;
    for (int world : b) {
      if (!has(a, world)) both.push_back(world);
    }
    for (int world : a) (has(b, world) ? common : rest).push_back(world);
    REQUIRE(listed(*unite(x, y)) == both);
    REQUIRE(listed(*intersect(x, y)) == common);
    REQUIRE(listed(*subtract(x, y)) == rest);
    REQUIRE(compare(*x, *y) == model_compare(a, b));
  }
}

TEST_CASE("members are chosen by rank") {
  const GroupPtr group = Group::list({5, 3, 9, 1, 7});
  const int ranks[] = {4, 0, 2};
  CHECK(listed(*include(group, 3, ranks)) == Model{7, 5, 9});
  CHECK(listed(*exclude(group, 3, ranks)) == Model{3, 1});
  CHECK(exclude(group, 0, nullptr) == group);
  CHECK(include(group, 0, nullptr)->size() == 0);
  const int twice[] = {1, 1}, outside[] = {5};
  CHECK(check_ranks(*group, 2, twice).error_class() == MPI_ERR_RANK);
  CHECK(check_ranks(*group, 1, outside).error_class() == MPI_ERR_RANK);
  CHECK(check_ranks(*group, -1, ranks).error_class() == MPI_ERR_ARG);
  CHECK(!check_ranks(*group, 3, ranks));
}

TEST_CASE("ranges of ranks are triplets") {
  const GroupPtr group = Group::range(0, 20);
  std::vector<int> ranks;
  const int good[][3] = {{0, 6, 2}, {19, 15, -2}, {9, 9, 4}};
  REQUIRE(!expand_ranges(*group, 3, good, ranks));
  CHECK(ranks == Model{0, 2, 4, 6, 19, 17, 15, 9});
  const auto error = [&](int first, int last, int stride) {
    const int range[][3] = {{first, last, stride}};
    ranks.clear();
    return expand_ranges(*group, 1, range, ranks).error_class();
  };
  CHECK(error(0, 5, 0) == MPI_ERR_ARG);
  CHECK(error(0, 5, -1) == MPI_ERR_ARG);
  CHECK(error(0, 20, 1) == MPI_ERR_RANK);
  CHECK(error(-1, 5, 1) == MPI_ERR_RANK);
  const int overlapping[][3] = {{0, 5, 1}, {5, 7, 1}};
  ranks.clear();
  CHECK(expand_ranges(*group, 2, overlapping, ranks).error_class() == MPI_ERR_RANK);
}

}  // namespace
}  // namespace tmpi::mpi
