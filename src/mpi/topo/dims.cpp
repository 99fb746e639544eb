#include <algorithm>

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

// True if d to the power k is at least n.
bool power_reaches(long d, int k, long n) {
  long power = 1;
  for (int i = 0; i < k && power < n; ++i) power *= d;
  return power >= n;
}

// Writes n as k factors, none above `most`, not increasing, lexicographically smallest: the first that can be
// completed is it.
bool factor(int n, int k, int most, const std::vector<int>& divisors, int out[]) {
  if (k == 1) {
    if (n > most) return false;
    out[0] = n;
    return true;
  }
  for (const int d : divisors) {
    if (d > most || d > n) return false;
    if (n % d != 0 || !power_reaches(d, k, n)) continue;  // the largest factor is at least the k-th root
    out[0] = d;
    if (factor(n / d, k - 1, d, divisors, out + 1)) return true;
  }
  return false;
}

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
  std::vector<int> factors(open.size());
  factor(rest, static_cast<int>(open.size()), rest, divisors_of(rest), factors.data());
  for (std::size_t i = 0; i < open.size(); ++i) dims[open[i]] = factors[i];
  return kOk;
}

}  // namespace tmpi::mpi
