// The profile as a table: where the ranks' time went, whether the cores were busy with it, whether the load
// is balanced, and which call sites the time belongs to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/append.hpp"
#include "observe/profile.hpp"

namespace tmpi::observe {
namespace {

constexpr std::size_t kMostCalls = 12;
constexpr std::size_t kMostHosts = 4;
constexpr std::size_t kMostWorkers = 16;  // more are summed up
constexpr double kBalanced = 1.1;         // max/mean up to which nobody needs to act
constexpr std::size_t kWhere = 30;        // widest "heat2d.c:131 in exchange"

double share(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

/// Three digits and a unit, 8 characters at most.
std::string duration(double seconds) {
  if (seconds <= 0) return "0";
  const double micro = seconds * 1e6;
  const auto digits = [](double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; };
  if (micro < 999.5) return fmt::format("{:.{}f} us", micro, digits(micro));
  if (micro < 999.5e3) return fmt::format("{:.{}f} ms", micro / 1e3, digits(micro / 1e3));
  return fmt::format("{:.{}f} s", seconds, digits(seconds));
}

std::string amount(double bytes) {
  if (bytes < 9999.5) return fmt::format("{:.0f} B", bytes);
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  bytes /= 1024;
  while (bytes >= 1023.5 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0, kUnits[unit]);
}

/// One number per rank or core, and who has the extremes.
struct Spread {
  double sum = 0, least = 0, most = 0;
  std::size_t count = 0, who_least = 0, who_most = 0;

  template <class Items, class Value>
  static Spread of(const Items& items, Value value) {
    Spread spread;
    for (const auto& item : items) {
      const double x = value(item);
      if (spread.count == 0 || x < spread.least) {
        spread.least = x;
        spread.who_least = spread.count;
      }
      if (spread.count == 0 || x > spread.most) {
        spread.most = x;
        spread.who_most = spread.count;
      }
      spread.sum += x;
      ++spread.count;
    }
    return spread;
  }
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
  double imbalance() const { return mean() > 0 ? most / mean() : 1; }
};

std::string ranges(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i]);
    if (end - i > 1) text += fmt::format("-{}", ranks[end - 1]);
    i = end;
  }
  return text;
}

class Table {
 public:
  explicit Table(const Profile& profile) : profile_(profile) {}

  std::string text() {
    heading();
    time_of_ranks();
    cores();
    balance();
    calls();
    network();
    remarks();
    out_.pop_back();  // whoever prints it ends the line
    return std::move(out_);
  }

 private:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    append(out_, format, std::forward<Arguments>(arguments)...);
  }

  bool several() const { return profile_.hosts.size() > 1; }

  /// "host a", "hosts a, b and 30 more".
  std::string hosts() const {
    std::vector<std::string> names = profile_.hosts;
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::size_t shown = std::min(names.size(), kMostHosts);
    std::string text =
        fmt::format("host{} {}", names.size() == 1 ? "" : "s",
                    fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
    return text;
  }

  void heading() {
    print("profile of {}: {} ranks on {} workers{}, {}, {}{}\n", profile_.program, profile_.ranks.size(),
          profile_.workers.size(),
          several() ? fmt::format(" of {} node processes", profile_.hosts.size()) : "", hosts(),
          duration(profile_.seconds), profile_.ended_early ? ", ended early" : "");
  }

  template <class Value>
  void time_of_ranks(const char* name, double whole, Value value) {
    const Spread spread = Spread::of(profile_.ranks, value);
    print("    {:<22}{:>5.1f} %  {:>9}  {:>9} {:<8} {:>9} {}\n", name, share(spread.sum, whole),
          duration(spread.mean()), duration(spread.least),
          fmt::format("({})", profile_.ranks[spread.who_least].rank), duration(spread.most),
          fmt::format("({})", profile_.ranks[spread.who_most].rank));
  }

  void time_of_ranks() {
    if (profile_.ranks.empty()) return;
    const double whole = Spread::of(profile_.ranks, [](const ProfiledRank& r) { return r.wall; }).sum;
    const double elsewhere =
        Spread::of(profile_.ranks, [](const ProfiledRank& r) { return r.elsewhere; }).sum;
    print("\n  {:<25}{:>6}  {:>9}  {:>9} {:<8} {:>9} {}\n", "time of a rank", "share", "mean", "least",
          "(rank)", "most", "(rank)");
    time_of_ranks("computing", whole, [](const ProfiledRank& r) { return r.computing; });
    time_of_ranks("running in MPI", whole, [](const ProfiledRank& r) { return r.mpi; });
    time_of_ranks("waiting in MPI", whole, [](const ProfiledRank& r) { return r.waiting; });
    if (share(elsewhere, whole) >= 0.05)
      time_of_ranks("waiting elsewhere", whole, [](const ProfiledRank& r) { return r.elsewhere; });
  }

  void core(std::string_view name, const ProfiledWorker& worker, std::string_view ranks) {
    const double whole = worker.busy + worker.idle;
    print("    {:<30}{:>8.1f} % {:>7.1f} % {:>6.1f} % {:>10}  {}\n", name, share(worker.computing, whole),
          share(worker.mpi, whole), share(worker.idle, whole), worker.switches, ranks);
  }

  void cores() {
    ProfiledWorker sum;
    for (const ProfiledWorker& worker : profile_.workers) {
      sum.busy += worker.busy;
      sum.idle += worker.idle;
      sum.computing += worker.computing;
      sum.mpi += worker.mpi;
      sum.switches += worker.switches;
    }
    print("\n  {:<32}{:>10} {:>9} {:>8} {:>10}  {}\n", "time of a core", "computing", "in MPI", "idle",
          "switches", "ranks");
    const std::size_t shown = profile_.workers.size() <= kMostWorkers ? profile_.workers.size() : 0;
    for (std::size_t i = 0; i < shown; ++i) {
      const ProfiledWorker& worker = profile_.workers[i];
      core(worker.name.substr(0, worker.name.find(',')), worker, ranges(worker.ranks));
    }
    if (shown != 1) core(fmt::format("all {}", profile_.workers.size()), sum, "");
    core_seconds_ = sum.busy + sum.idle;
    held();
  }

  // Part of computing, as the core sees it.
  void held() {
    const Spread spread = Spread::of(profile_.workers, [](const ProfiledWorker& w) { return w.held; });
    if (spread.sum <= 0) return;
    const std::string& name = profile_.workers[spread.who_most].name;
    print(
        "    of computing, asleep while ranks of the core were ready: {} in all ({:.1f} %), {} most ({}); "
        "they "
        "run with --sleep yield\n",
        duration(spread.sum), share(spread.sum, core_seconds_), name.substr(0, name.find(':')),
        duration(spread.most));
  }

  void balance() {
    if (profile_.ranks.empty()) return;
    const Spread ranks = Spread::of(profile_.ranks, [](const ProfiledRank& r) { return r.computing; });
    const Spread cores = Spread::of(profile_.workers, [](const ProfiledWorker& w) { return w.computing; });
    const std::string& name = profile_.workers[cores.who_most].name;
    const std::string longest = name.substr(0, name.find(':'));
    print("\n  balance of computing, max/mean: ranks {:.2f} (rank {}), cores {:.2f} ({}); ",
          ranks.imbalance(), profile_.ranks[ranks.who_most].rank, cores.imbalance(), longest);
    if (cores.imbalance() > kBalanced) {
      print("{} computes longest, the others wait for it.\n", longest);
    } else if (ranks.imbalance() > kBalanced) {
      print("the ranks differ, the cores do not: virtualization evens them out.\n");
    } else {
      print("balanced.\n");
    }
  }

  std::string where(const ProfiledCall& call) const {
    const CallSite& site = call.site;
    std::string text = site.label();
    if (!site.file.empty() && !site.caller.empty()) text += " in " + site.caller;
    if (text.size() > kWhere) text = text.substr(0, kWhere - 3) + "...";
    return text;
  }

  void calls() {
    if (profile_.calls.empty()) return;
    const double whole = Spread::of(profile_.ranks, [](const ProfiledRank& r) { return r.wall; }).sum;
    print("\n  {:<22} {:<{}} {:>9} {:>9} {:>7} {:>8} {:>7}  {:>8} {:>8} {:>8}\n", "call", "from", kWhere,
          "calls", "per call", "wall", "waiting", "idle", "wall:min", "mean", "max");
    for (std::size_t i = 0; i < std::min(kMostCalls, profile_.calls.size()); ++i) {
      const ProfiledCall& call = profile_.calls[i];
      const Spread wall = Spread::of(call.ranks, [](const auto& rank) { return rank.times.wall; });
      const double per_call = static_cast<double>(call.total.bytes) / static_cast<double>(call.total.calls);
      print("    {:<20} {:<{}} {:>9} {:>9} {:>5.1f} % {:>6.1f} % {:>5.1f} %  {:>8} {:>8} {:>8}\n",
            call.function, where(call), kWhere, call.total.calls,
            call.total.bytes == 0 ? "-" : amount(per_call), share(call.total.wall, whole),
            share(call.total.waiting, whole), share(call.total.idle, core_seconds_), duration(wall.least),
            duration(wall.mean()), duration(wall.most));
    }
    if (profile_.calls.size() > kMostCalls)
      print("    and {} more; --profile=FILE writes all of them\n", profile_.calls.size() - kMostCalls);
    print(
        "  wall, waiting: of the ranks' time. idle: of the cores' time, while nothing else could run until "
        "this call "
        "went on.\n");
  }

  void protocol(std::string_view name, std::uint64_t messages, std::uint64_t bytes) {
    if (messages == 0) return;
    print("    {:<46} {:>10} {:>10} {:>10}\n", name, messages, amount(static_cast<double>(bytes)),
          amount(static_cast<double>(bytes) / static_cast<double>(messages)));
  }

  void network() {
    if (!profile_.network.used()) return;
    const mpi::remote::ProtocolCounters& by = profile_.network.protocols;
    print("\n  {:<48} {:>10} {:>10} {:>10}\n", "sent to other nodes", "messages", "bytes", "mean");
    protocol("eager", by.eager, by.eager_bytes);
    protocol("rendezvous", by.rendezvous, by.rendezvous_bytes);
    protocol("large, to a receive announced before", by.early, by.early_bytes);
    protocol("one-sided", by.one_sided, by.one_sided_bytes);
    protocol("read here from other nodes' memory", by.reads, by.read_bytes);
    if (by.deferred > 0)
      print("    {} times something had to wait until the network took more\n", by.deferred);
    if (by.limits_raised + by.limits_lowered + by.limits_refused > 0)
      print("    eager limits of pairs of nodes: {} raised, to {} at most, {} lowered, {} refused\n",
            by.limits_raised, amount(static_cast<double>(by.largest_limit)), by.limits_lowered,
            by.limits_refused);
    if (by.receive_buffers > 0)
      print("    receive buffers of a node: {} at most\n", amount(static_cast<double>(by.receive_buffers)));
    print("  by {}\n", profile_.network.device);
  }

  void remarks() {
    if (profile_.oversubscribed)
      print("  Workers share cores: times include those in which the operating system ran somebody else.\n");
    if (profile_.foreign_calls > 0)
      print("  {} calls by threads that are no ranks are not in these figures.\n", profile_.foreign_calls);
    if (!profile_.line_numbers)
      print("  Call sites have no line numbers: the library libdw.so.1 (Debian: libdw1) is not installed.\n");
  }

  const Profile& profile_;
  std::string out_;
  double core_seconds_ = 0;
};

}  // namespace

std::string profile_text(const Profile& profile) {
  return Table(profile).text();
}

}  // namespace tmpi::observe
