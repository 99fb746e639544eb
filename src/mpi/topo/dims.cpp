#include <algorithm>
#include <limits>
#include <span>

#include "mpi/topo/cart.hpp"

namespace tmpi::mpi {
namespace {

// All divisors, ascending.
std::vector<int> divisors_of(int n) {
  std::vector<int> divisors;
  for (long d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    divisors.push_back(static_cast<int>(d));
    if (d * d != n) divisors.push_back(static_cast<int>(n / d));
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

// d to the power k, or `limit` if it is at least that.
long power_up_to(long d, int k, long limit) {
  long power = 1;
  for (int i = 0; i < k && power < limit; ++i) power *= d;
  return std::min(power, limit);
}

// True if `a` is the better of two factorizations, both of which do not increase: the lesser spread; of equal
// ones the larger smallest factor; then the same of those between the first and the last.
bool closer(std::span<const int> a, std::span<const int> b) {
  for (std::size_t first = 0, last = a.size() - 1; first < last; ++first, --last) {
    const int spread_a = a[first] - a[last], spread_b = b[first] - b[last];
    if (spread_a != spread_b) return spread_a < spread_b;
    if (a[last] != b[last]) return a[last] > b[last];
  }
  return false;
}

// The search for the factorization of n into k factors that are as close to each other as possible. Factors
// are chosen from the largest to the smallest; what cannot be completed within the best spread so far is left
// out.
class Search {
 public:
  Search(int n, int k) : divisors_(divisors_of(n)), tried_(static_cast<std::size_t>(k)) {
    int root = 1;  // the largest divisor up to the k-th root: no smallest factor is above it
    for (const int d : divisors_) {
      if (power_up_to(d, k, long{n} + 1) <= n) root = d;
    }
    for (const int d : divisors_) {
      if (d - root > spread_) break;
      largest_ = d;
      choose(n, 0, d);
    }
  }
  const std::vector<int>& best() const noexcept { return best_; }

 private:
  // Tries `factor` as number `index`, n being what is left with it.
  void choose(int n, std::size_t index, int factor) {
    tried_[index] = factor;
    const int rest = n / factor;
    const int left = static_cast<int>(tried_.size() - index) - 1;
    if (power_up_to(factor, left, rest) < rest) return;  // the others are no larger
    if (left == 0) return keep();
    if (left == 1) return try_next(rest, index + 1, rest);
    for (const int d : divisors_) {
      if (d > factor || d > rest) break;
      if (rest % d == 0) try_next(rest, index + 1, d);
    }
  }

  void try_next(int n, std::size_t index, int factor) {
    if (largest_ - factor <= spread_) choose(n, index, factor);
  }

  void keep() {
    if (!best_.empty() && !closer(tried_, best_)) return;
    best_ = tried_;
    spread_ = best_.front() - best_.back();
  }

  const std::vector<int> divisors_;
  std::vector<int> tried_, best_;
  int largest_ = 0;
  int spread_ = std::numeric_limits<int>::max();
};

}  // namespace

Err fill_dims(int nodes, int ndims, int dims[]) {
  long fixed = 1;
  std::vector<int> open;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 0)
      return fail(MPI_ERR_DIMS, "dims[{}] is {}: it must be 0 (to be chosen) or positive", d, dims[d]);
    if (dims[d] == 0) {
      open.push_back(d);
    } else {
      fixed = std::min(fixed * dims[d], long{nodes} + 1);  // no overflow; too large is too large
    }
  }
  if (nodes % fixed != 0)
    return fail(MPI_ERR_DIMS, "nnodes is {}, not a multiple of the product of the dimensions that are given",
                nodes);
  const int rest = static_cast<int>(nodes / fixed);
  if (open.empty()) {
    if (rest != 1) return fail(MPI_ERR_DIMS, "nnodes is {}, but the dimensions given make {}", nodes, fixed);
    return kOk;
  }
  const Search search(rest, static_cast<int>(open.size()));
  for (std::size_t i = 0; i < open.size(); ++i) dims[open[i]] = search.best()[i];
  return kOk;
}

}  // namespace tmpi::mpi
