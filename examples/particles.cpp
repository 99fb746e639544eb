// particles: a gas of particles with short-range repulsion in a periodic square box, unevenly distributed.
//
// The box is divided over a periodic cartesian grid of ranks, each of which owns the particles in its part.
// The particles start in a few clusters, so some ranks have much more to do than others. A step: half a kick,
// a drift, migration of the particles that left, exchange of the particles near the edges (how many arrive is
// found by MPI_Probe), forces by a cell list, half a kick. Particles never vanish, momentum is conserved up
// to rounding, and energy up to the error of the integrator: the program checks all three.
//
//   mpirun -n 4 ./particles [--particles N] [--box L] [--steps N] [--clusters N] [--time-step X] [--loads FILE]
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#if __has_include(<mpix.h>)
#include <mpix.h>  // tmpi's extensions
#endif

namespace {

constexpr double kCutoff = 1.0;     // range of the force
constexpr double kStrength = 40.0;  // potential kStrength * (1 - r / kCutoff)^2

struct Options {
  int particles = 6000;
  double box = 32.0;
  int steps = 100;
  int clusters = 5;
  double time_step = 0.001;
  std::string loads;
};

struct Particle {
  std::array<double, 2> x;
  std::array<double, 2> v;
  std::array<double, 2> f;
};

void usage(const char* program) {
  std::printf(
      "usage: %s [options]\n"
      "  --particles N     particles in all (default 6000)\n"
      "  --box L           length of the periodic square box; the range of the force is 1 (default 32)\n"
      "  --steps N         time steps (default 100)\n"
      "  --clusters N      clusters in which the particles start; 0: spread evenly (default 5)\n"
      "  --time-step X     length of a step (default 0.001)\n"
      "  --loads FILE      write what each rank has run in each step: a line for each step, in seconds\n",
      program);
}

/// Returns -1 to go on, or the exit code.
int parse(int argc, char** argv, int rank, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (value != nullptr && name == "--particles") {
      options.particles = std::atoi(value);
    } else if (value != nullptr && name == "--box") {
      options.box = std::atof(value);
    } else if (value != nullptr && name == "--steps") {
      options.steps = std::atoi(value);
    } else if (value != nullptr && name == "--clusters") {
      options.clusters = std::atoi(value);
    } else if (value != nullptr && name == "--time-step") {
      options.time_step = std::atof(value);
    } else if (value != nullptr && name == "--loads") {
      options.loads = value;
    } else {
      if (rank == 0) usage(argv[0]);
      return name == "--help" ? 0 : 2;
    }
  }
  if (options.particles > 0 && options.box >= 2 && options.steps >= 0 && options.clusters >= 0 &&
      options.time_step > 0)
    return -1;
  if (rank == 0) std::fprintf(stderr, "%s: numbers must be positive and the box at least 2 long\n", argv[0]);
  return 2;
}

/// A small generator whose numbers are the same on every machine.
class Random {
 public:
  double uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }
  double normal() {  // sum of uniforms: good enough for a cluster
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_ = 88172645463325252u;
};

/// The part of the box that this rank owns, and its neighbours: neighbour[d][0] below, neighbour[d][1] above
/// in direction d.
struct Domain {
  MPI_Comm cart = MPI_COMM_NULL;
  int rank = 0, size = 1;
  double box = 0;
  std::array<double, 2> low{}, high{};
  std::array<std::array<int, 2>, 2> neighbour{};
  std::array<bool, 2> first{}, last{};  // at the lower, upper end of the box

  bool contains(const Particle& p) const {
    return p.x[0] >= low[0] && p.x[0] < high[0] && p.x[1] >= low[1] && p.x[1] < high[1];
  }
};

Domain create_domain(const Options& options) {
  Domain domain;
  std::array<int, 2> dims{}, periods{1, 1}, coords{};
  MPI_Comm_size(MPI_COMM_WORLD, &domain.size);
  MPI_Dims_create(domain.size, 2, dims.data());
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), 0, &domain.cart);
  MPI_Comm_rank(domain.cart, &domain.rank);
  MPI_Cart_coords(domain.cart, domain.rank, 2, coords.data());
  domain.box = options.box;
  for (int d = 0; d < 2; d++) {
    MPI_Cart_shift(domain.cart, d, 1, &domain.neighbour[d][0], &domain.neighbour[d][1]);
    domain.low[d] = options.box * coords[d] / dims[d];
    domain.high[d] = options.box * (coords[d] + 1) / dims[d];
    domain.first[d] = coords[d] == 0;
    domain.last[d] = coords[d] == dims[d] - 1;
    if (domain.high[d] - domain.low[d] < kCutoff) {
      if (domain.rank == 0)
        std::fprintf(
            stderr,
            "particles: %d ranks make parts narrower than the range of the force; use --box %.0f or larger\n",
            domain.size, std::ceil(kCutoff * std::max(dims[0], dims[1])));
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  return domain;
}

double wrap(double x, double box) {
  x = std::fmod(x, box);
  if (x < 0) x += box;
  return x < box ? x : 0;
}

/// Every rank makes all particles and keeps its own. The mean velocity is zero.
std::vector<Particle> create_particles(const Options& options, const Domain& domain) {
  Random random;
  std::vector<std::array<double, 2>> centres(static_cast<std::size_t>(options.clusters));
  for (auto& centre : centres) centre = {options.box * random.uniform(), options.box * random.uniform()};
  std::vector<Particle> own;
  for (int i = 0; i < options.particles; i++) {
    Particle p{};
    for (int d = 0; d < 2; d++) {
      double around = centres.empty() ? options.box * random.uniform()
                                      : centres[static_cast<std::size_t>(i) % centres.size()][d] +
                                            0.06 * options.box * random.normal();
      p.x[d] = wrap(around, options.box);
      p.v[d] = (i % 2 == 0 ? 1.0 : -1.0) * (i / 2 % 7 - 3);
    }
    if (domain.contains(p)) own.push_back(p);
  }
  return own;
}

/// Sends `out` to `to` and receives as many particles as `from` sends.
std::vector<Particle> swap_particles(const Domain& domain, const std::vector<Particle>& out, int to, int from,
                                     int tag) {
  constexpr int kDoubles = sizeof(Particle) / sizeof(double);
  MPI_Request request;
  MPI_Status status;
  int count = 0;
  MPI_Isend(out.data(), static_cast<int>(out.size()) * kDoubles, MPI_DOUBLE, to, tag, domain.cart, &request);
  MPI_Probe(from, tag, domain.cart, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  std::vector<Particle> in(static_cast<std::size_t>(count / kDoubles));
  MPI_Recv(in.data(), count, MPI_DOUBLE, from, tag, domain.cart, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return in;
}

/// Hands the particles that left this part to the neighbour they went to, first in x, then in y.
void migrate(const Domain& domain, std::vector<Particle>& own) {
  for (int d = 0; d < 2; d++) {
    std::array<std::vector<Particle>, 2> out;
    std::vector<Particle> stay;
    for (Particle& p : own) {
      if (p.x[d] < domain.low[d]) {
        if (domain.first[d]) p.x[d] = std::min(p.x[d] + domain.box, std::nextafter(domain.box, 0.0));
        out[0].push_back(p);
      } else if (p.x[d] >= domain.high[d]) {
        if (domain.last[d]) p.x[d] -= domain.box;
        out[1].push_back(p);
      } else {
        stay.push_back(p);
      }
    }
    own = std::move(stay);
    for (int side = 0; side < 2; side++) {
      const auto in = swap_particles(domain, out[side], domain.neighbour[d][side],
                                     domain.neighbour[d][1 - side], 2 * d + side);
      own.insert(own.end(), in.begin(), in.end());
    }
  }
}

/// Copies of the neighbours' particles within the range of the force; those of the diagonal neighbours come
/// along in the second direction.
std::vector<Particle> exchange_ghosts(const Domain& domain, const std::vector<Particle>& own) {
  std::vector<Particle> ghosts;
  for (int d = 0; d < 2; d++) {
    std::array<std::vector<Particle>, 2> out;
    auto select = [&](Particle p) {
      Particle shifted = p;
      if (p.x[d] < domain.low[d] + kCutoff) {
        if (domain.first[d]) shifted.x[d] += domain.box;
        out[0].push_back(shifted);
      }
      if (p.x[d] >= domain.high[d] - kCutoff) {
        if (domain.last[d]) p.x[d] -= domain.box;
        out[1].push_back(p);
      }
    };
    for (const Particle& p : own) select(p);
    for (const Particle& p : ghosts) select(p);
    for (int side = 0; side < 2; side++) {
      const auto in = swap_particles(domain, out[side], domain.neighbour[d][side],
                                     domain.neighbour[d][1 - side], 4 + 2 * d + side);
      ghosts.insert(ghosts.end(), in.begin(), in.end());
    }
  }
  return ghosts;
}

/// Particles sorted into square cells at least as wide as the range of the force, over the part and its
/// margin.
class Cells {
 public:
  Cells(const Domain& domain, const std::vector<Particle>& own, const std::vector<Particle>& ghosts)
      : domain_(domain) {
    for (int d = 0; d < 2; d++) n_[d] = static_cast<int>((domain.high[d] - domain.low[d]) / kCutoff) + 3;
    head_.assign(static_cast<std::size_t>(n_[0]) * static_cast<std::size_t>(n_[1]), -1);
    all_.reserve(own.size() + ghosts.size());
    all_.insert(all_.end(), own.begin(), own.end());
    all_.insert(all_.end(), ghosts.begin(), ghosts.end());
    next_.resize(all_.size());
    for (std::size_t i = 0; i < all_.size(); i++) {
      int& head = head_[cell(index(all_[i], 0), index(all_[i], 1))];
      next_[i] = head;
      head = static_cast<int>(i);
    }
  }

  /// Force on a particle, and its share of the potential energy.
  double force(Particle& p, std::size_t self) const {
    double energy = 0;
    p.f = {0, 0};
    for (int j = index(p, 1) - 1; j <= index(p, 1) + 1; j++)
      for (int i = index(p, 0) - 1; i <= index(p, 0) + 1; i++)
        for (int k = head_[cell(i, j)]; k >= 0; k = next_[static_cast<std::size_t>(k)])
          if (static_cast<std::size_t>(k) != self) energy += pair(p, all_[static_cast<std::size_t>(k)]);
    return energy / 2;
  }

 private:
  static double pair(Particle& p, const Particle& q) {
    const double dx = p.x[0] - q.x[0], dy = p.x[1] - q.x[1], r2 = dx * dx + dy * dy;
    if (r2 >= kCutoff * kCutoff || r2 == 0) return 0;
    const double r = std::sqrt(r2), overlap = 1 - r / kCutoff, f = 2 * kStrength * overlap / (kCutoff * r);
    p.f[0] += f * dx;
    p.f[1] += f * dy;
    return kStrength * overlap * overlap;
  }
  int index(const Particle& p, int d) const {
    return std::clamp(static_cast<int>(std::floor((p.x[d] - domain_.low[d]) / kCutoff)) + 1, 0, n_[d] - 1);
  }
  std::size_t cell(int i, int j) const {
    return static_cast<std::size_t>(std::clamp(j, 0, n_[1] - 1)) * static_cast<std::size_t>(n_[0]) +
           static_cast<std::size_t>(std::clamp(i, 0, n_[0] - 1));
  }

  const Domain& domain_;
  std::array<int, 2> n_{};
  std::vector<int> head_, next_;
  std::vector<Particle> all_;
};

/// What is conserved, over all ranks.
struct Totals {
  double particles, momentum_x, momentum_y, kinetic, potential;
  double energy() const { return kinetic + potential; }
};

Totals totals(const Domain& domain, const std::vector<Particle>& own, double potential) {
  Totals local{static_cast<double>(own.size()), 0, 0, 0, potential}, global{};
  for (const Particle& p : own) {
    local.momentum_x += p.v[0];
    local.momentum_y += p.v[1];
    local.kinetic += 0.5 * (p.v[0] * p.v[0] + p.v[1] * p.v[1]);
  }
  MPI_Allreduce(&local, &global, 5, MPI_DOUBLE, MPI_SUM, domain.cart);
  return global;
}

/// Times of one rank.
struct Times {
  double force = 0, communication = 0;
};

/// What three clocks say about the time steps: the wall clock, which also shows the time in which the rank
/// waited or others ran on its core; the rank's own running time; and the time that its core has spent in
/// steps, whichever rank ran. The latter two where the library has them, 0 elsewhere.
class StepClocks {
 public:
  void start() {
    wall_ -= MPI_Wtime();
#ifdef MPIX_HAVE_RTIME
    running_ -= MPIX_Rtime();
    MPIX_Start_processor_timer();
#endif
  }
  void stop() {
#ifdef MPIX_HAVE_RTIME
    MPIX_Stop_processor_timer();
    running_ += MPIX_Rtime();
#endif
    wall_ += MPI_Wtime();
    until_.push_back(running_);
  }

  /// Writes what each rank has run in each step, 0 where the library does not know.
  void write_loads(const Domain& domain, const std::string& name) const {
    const auto steps = until_.size(), ranks = static_cast<std::size_t>(domain.size);
    std::vector<double> all(domain.rank == 0 ? steps * ranks : 0);
    MPI_Gather(until_.data(), static_cast<int>(steps), MPI_DOUBLE, all.data(), static_cast<int>(steps),
               MPI_DOUBLE, 0, domain.cart);
    if (domain.rank != 0) return;
    std::FILE* const file = std::fopen(name.c_str(), "w");
    if (file == nullptr) return std::perror(name.c_str());
    for (std::size_t step = 0; step < steps; step++)
      for (std::size_t rank = 0; rank < ranks; rank++) {
        const double* const until = &all[rank * steps];
        std::fprintf(file, "%.9f%c", until[step] - (step > 0 ? until[step - 1] : 0),
                     rank + 1 < ranks ? ' ' : '\n');
      }
    std::fclose(file);
  }

  /// Prints the imbalance, largest value / mean: of the ranks by the first two clocks, of the cores by the
  /// third.
  void report(const Domain& domain) const {
    std::array<double, 3> own{wall_, running_, 0};
    MPI_Barrier(domain.cart);  // nobody is in a step any more
#ifdef MPIX_HAVE_RTIME
    own[2] = MPIX_Ptime();
#endif
    std::vector<double> all(domain.rank == 0 ? own.size() * static_cast<std::size_t>(domain.size) : 0);
    MPI_Gather(own.data(), 3, MPI_DOUBLE, all.data(), 3, MPI_DOUBLE, 0, domain.cart);
    if (domain.rank != 0) return;
    std::array<std::vector<double>, 3> by_clock;
    for (std::size_t i = 0; i < all.size(); i++) by_clock[i % 3].push_back(all[i]);
    // All ranks of a core read the same clock, so each value stands for a core.
    std::vector<double>& cores = by_clock[2];
    std::sort(cores.begin(), cores.end());
    cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
    std::printf("imbalance  MPI_Wtime %.3f", imbalance(by_clock[0]));
    if (cores.back() > 0)
      std::printf("  MPIX_Rtime %.3f  MPIX_Ptime %.3f on %d cores", imbalance(by_clock[1]), imbalance(cores),
                  static_cast<int>(cores.size()));
    std::printf("\n");
  }

 private:
  static double imbalance(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum > 0
               ? *std::max_element(values.begin(), values.end()) * static_cast<double>(values.size()) / sum
               : 1.0;
  }

  double wall_ = 0, running_ = 0;
  std::vector<double> until_;  // by step: running_ at its end
};

double compute_forces(const Domain& domain, std::vector<Particle>& own, Times& times) {
  const double start = MPI_Wtime();
  const std::vector<Particle> ghosts = exchange_ghosts(domain, own);
  const double received = MPI_Wtime();
  const Cells cells(domain, own, ghosts);
  double potential = 0;
  for (std::size_t i = 0; i < own.size(); i++) potential += cells.force(own[i], i);
  times.communication += received - start;
  times.force += MPI_Wtime() - received;
  return potential;
}

void kick(std::vector<Particle>& own, double dt) {
  for (Particle& p : own)
    for (int d = 0; d < 2; d++) p.v[d] += dt * p.f[d];
}

int report(const Options& options, const Domain& domain, const Totals& before, const Totals& after,
           std::size_t own, const Times& times, double elapsed) {
  std::array<double, 3> local{static_cast<double>(own), times.force, times.communication}, largest{}, sum{};
  MPI_Reduce(local.data(), largest.data(), 3, MPI_DOUBLE, MPI_MAX, 0, domain.cart);
  MPI_Reduce(local.data(), sum.data(), 3, MPI_DOUBLE, MPI_SUM, 0, domain.cart);
  const double drift = std::fabs(after.energy() - before.energy()) / before.energy();
  const double momentum =
      std::hypot(after.momentum_x - before.momentum_x, after.momentum_y - before.momentum_y);
  const bool complete = after.particles == options.particles && before.particles == options.particles;
  const bool passed = complete && drift < 1e-3 && momentum < 1e-7 * options.particles;
  if (domain.rank == 0) {
    std::printf("particles: %d particles, %d steps, %d ranks: %.3f s\n", options.particles, options.steps,
                domain.size, elapsed);
    std::printf(
        "balance    most particles on a rank / mean %.2f, longest time for forces / mean %.2f (%.3f s / %.3f "
        "s)\n",
        largest[0] * domain.size / sum[0], sum[1] > 0 ? largest[1] * domain.size / sum[1] : 1.0, largest[1],
        sum[1] / domain.size);
    std::printf("result particles %.0f\nresult energy %.10e\nresult kinetic %.10e\n", after.particles,
                after.energy(), after.kinetic);
    std::printf("check  %s (energy drift %.1e, momentum drift %.1e)\n", passed ? "passed" : "FAILED", drift,
                momentum);
  }
  return passed ? 0 : 1;
}

int simulate(const Options& options) {
  Domain domain = create_domain(options);
  std::vector<Particle> own = create_particles(options, domain);
  Times times;
  double potential = compute_forces(domain, own, times);
  const Totals before = totals(domain, own, potential);
  times = Times{};
  StepClocks clocks;
  const double start = MPI_Wtime();
  for (int step = 0; step < options.steps; step++) {
    clocks.start();
    kick(own, options.time_step / 2);
    for (Particle& p : own)
      for (int d = 0; d < 2; d++) p.x[d] += options.time_step * p.v[d];
    const double moved = MPI_Wtime();
    migrate(domain, own);
    times.communication += MPI_Wtime() - moved;
    potential = compute_forces(domain, own, times);
    kick(own, options.time_step / 2);
    clocks.stop();
  }
  const double elapsed = MPI_Wtime() - start;
  int failed = report(options, domain, before, totals(domain, own, potential), own.size(), times, elapsed);
  clocks.report(domain);
  if (!options.loads.empty()) clocks.write_loads(domain, options.loads);
  MPI_Bcast(&failed, 1, MPI_INT, 0, domain.cart);
  MPI_Comm_free(&domain.cart);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Options options;
  int code = parse(argc, argv, rank, options);
  if (code < 0) code = simulate(options);
  MPI_Finalize();
  return code;
}
