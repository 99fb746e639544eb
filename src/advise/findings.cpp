#include "advise/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "advise/advice.hpp"

namespace tmpi::advise {
namespace {

using observe::Profile;
using observe::ProfiledCall;
using observe::ProfiledWorker;

// Shares of the cores' time below which nobody needs to act.
constexpr double kNoticed = 0.05;
constexpr double kBusyInLibrary =
    0.15;                        // of running in MPI: some of it is the copying of data, which has to be done
constexpr double kSmall = 1024;  // bytes: the costs of such a message are not those of its data
constexpr double kMostlyUnexpected = 0.5;
constexpr double kFewMessages = 100;
constexpr double kManyRanks = 6;  // per core: more of them hide little more (docs/guide/ranks-per-core.md)
constexpr double kWorthNaming = 0.1;  // of all idle time: a call site with less is not what it comes from

// Of all cores, in seconds.
struct Sums {
  double whole = 0, computing = 0, mpi = 0, idle = 0, held = 0;
  const ProfiledWorker* busiest = nullptr;

  double share(double seconds) const noexcept { return whole > 0 ? seconds / whole : 0; }
};

Sums sums_of(const Profile& profile) {
  Sums sums;
  for (const ProfiledWorker& worker : profile.workers) {
    sums.whole += worker.busy + worker.idle;
    sums.computing += worker.computing;
    sums.mpi += worker.mpi;
    sums.idle += worker.idle;
    sums.held += worker.held;
    if (sums.busiest == nullptr || worker.computing > sums.busiest->computing) sums.busiest = &worker;
  }
  return sums;
}

std::string where(const ProfiledCall& call) {
  std::string text = fmt::format("{} ({}", call.function, call.site.label());
  if (!call.site.file.empty() && !call.site.caller.empty()) text += " in " + call.site.caller;
  return text + ")";
}

std::string short_name(const ProfiledWorker& worker) {
  return worker.name.substr(0, worker.name.find(':'));
}

const ProfiledCall* most(const Profile& profile, double (*value)(const ProfiledCall&)) {
  const auto found = std::ranges::max_element(profile.calls, {}, value);
  return found == profile.calls.end() || value(*found) <= 0 ? nullptr : &*found;
}

double variable(const observe::ProfiledVariables& variables, const char* name) {
  const auto found = variables.find(name);
  if (found == variables.end()) return 0;
  return std::visit([](auto number) { return static_cast<double>(number); }, found->second);
}

class Finder {
 public:
  explicit Finder(const Profile& profile)
      : profile_(profile), sums_(sums_of(profile)), cores_(static_cast<double>(profile.workers.size())) {}

  Findings all() {
    if (sums_.whole > 0) {
      uneven_cores();
      idle_cores();
      running_in_mpi();
      asleep();
      late_receives();
    }
    std::ranges::stable_sort(found_.all, std::ranges::greater{}, &Finding::share);
    if (found_.all.empty()) nothing();
    doubts();
    return std::move(found_);
  }

 private:
  double ranks_per_core() const { return static_cast<double>(profile_.ranks.size()) / cores_; }
  void note(Finding finding) { found_.all.push_back(std::move(finding)); }

  // What the others wait for the busiest: they cannot do anything meanwhile.
  double lost_to_imbalance() const {
    return std::min(cores_ * sums_.busiest->computing - sums_.computing, sums_.idle);
  }

  void uneven_cores() {
    const double lost = sums_.share(lost_to_imbalance());
    if (lost < kNoticed) return;
    const double mean = sums_.computing / cores_;
    const auto rank = std::ranges::max_element(profile_.ranks, {}, &observe::ProfiledRank::computing);
    std::string sentence =
        fmt::format("{} computes for {:.3g} s, the mean of all cores is {:.3g} s ({:.2f} times)",
                    short_name(*sums_.busiest), sums_.busiest->computing, mean,
                    mean > 0 ? sums_.busiest->computing / mean : 0);
    sentence +=
        fmt::format("; of the ranks, rank {} computes longest, {:.3g} s.", rank->rank, rank->computing);
    note({"Cores compute for different times", sentence,
          ranks_per_core() >= 4
              ? "--balance auto moves ranks between the cores of a node; else divide the work differently."
              : "More ranks per core (--vratio 4) even out differences, and let --balance auto move them; "
                "else "
                "divide the work differently. Look also whether that core is shared with another program.",
          lost});
  }

  void idle_cores() {
    const double lost = sums_.share(sums_.idle - std::max(lost_to_imbalance(), 0.0));
    if (lost < kNoticed) return;
    std::string sentence = fmt::format("Cores have nothing to run for {:.0f} % of the time", 100 * lost);
    sentence += sums_.share(lost_to_imbalance()) < kNoticed ? "." : ", beyond what uneven work explains.";
    const ProfiledCall* const site = most(profile_, [](const ProfiledCall& call) { return call.total.idle; });
    if (site != nullptr && site->total.idle > kWorthNaming * sums_.idle)
      sentence += fmt::format(" {:.0f} % of all idle time ends in {}.", 100 * site->total.idle / sums_.idle,
                              where(*site));
    note({"Cores are idle while ranks wait", sentence, remedy_of_idling(), lost});
  }

  std::string remedy_of_idling() const {
    const Result<Reading> reading = read(profile_);
    if (reading && reading->vratio == 1) {
      const Choice best = best_choice(*reading);
      if (best.vratio != 1 || best.way != Way::kAtSchedulingPoints) {
        const bool doubted = std::ranges::any_of(doubts_of_vratios(*reading), [&](const Doubt& doubt) {
          return doubt.concerns(best.vratio, best.way);
        });
        return fmt::format(
            "Predicted to be best: {}{}, {:.3g} s instead of {:.3g} s{} (tmpi-advise).",
            options_of(*reading, best),
            best.vratio > 1 ? fmt::format(" with the same work in {} times as many ranks", best.vratio) : "",
            best.time, profile_.seconds, doubted ? "; this run leaves doubts about it" : "");
      }
    }
    if (ranks_per_core() >= kManyRanks)
      return "There are ranks enough on a core: what is left are waits of all for all. Fewer of them, or "
             "started "
             "earlier and completed later (MPI_Iallreduce and the like), and the same work for all ranks.";
    if (!profile_.network.used())
      return "More ranks per core (a larger --vratio) give a core something to run meanwhile. Within a node "
             "progress beside the ranks brings nothing.";
    return "More ranks per core (a larger --vratio) give a core something to run meanwhile; --progress "
           "thread "
           "lets messages between nodes go on while ranks compute.";
  }

  void running_in_mpi() {
    const double lost = sums_.share(sums_.mpi);
    if (lost < kBusyInLibrary) return;
    const ProfiledCall* const site =
        most(profile_, [](const ProfiledCall& call) { return call.total.running(); });
    std::string sentence = fmt::format("Ranks run inside MPI for {:.0f} % of the cores' time", 100 * lost);
    std::string remedy =
        "Fewer and larger messages; derived datatypes (MPI_Type_vector) instead of many small sends.";
    if (site != nullptr) {
      const double bytes = static_cast<double>(site->total.bytes) /
                           static_cast<double>(std::max<std::uint64_t>(site->total.calls, 1));
      sentence += fmt::format(", most of it in {}: {} calls with {:.0f} bytes each", where(*site),
                              site->total.calls, bytes);
      if (bytes >= kSmall)
        remedy =
            "It is copying, mostly: larger parts per rank have less of a surface; check that data is "
            "contiguous.";
    }
    note({"Much time goes into MPI itself", sentence + ".", remedy, lost});
  }

  void asleep() {
    const double lost = sums_.share(sums_.held);
    if (lost < kNoticed) return;
    note({"Ranks sleep on their cores",
          fmt::format("Ready ranks wait for {:.3g} s, {:.0f} % of the cores' time, for one that sleeps.",
                      sums_.held, 100 * lost),
          "--sleep yield gives the core away.", lost});
  }

  // No time is known to be lost by it, so it comes last.
  void late_receives() {
    double unexpected = 0, received = 0;
    for (const observe::ProfiledRank& rank : profile_.ranks) {
      unexpected += variable(rank.variables, "tmpi_messages_unexpected");
      received += variable(rank.variables, "tmpi_messages_received");
    }
    if (received < kFewMessages || unexpected < kMostlyUnexpected * received) return;
    note({"Receives are posted late",
          fmt::format(
              "{:.0f} % of the messages ({:.0f} of {:.0f}) have come before their receive was posted: they "
              "are copied twice, or their senders wait.",
              100 * unexpected / received, unexpected, received),
          "Post receives (MPI_Irecv) before computing, not behind it.", 0});
  }

  void nothing() {
    note(
        {"Nothing to mend on the side of MPI",
         fmt::format(
             "Cores compute for {:.0f} % of the time, are idle for {:.0f} % and run inside MPI for {:.0f} %.",
             100 * sums_.share(sums_.computing), 100 * sums_.share(sums_.idle), 100 * sums_.share(sums_.mpi)),
         "What is left is the program's own computing: tmpirun --wrapper \"perf record -g\" ...", 0});
  }

  void doubts() {
    if (profile_.ended_early)
      found_.doubts.emplace_back(
          "the job ended early: calls that ranks were in then count up to that moment");
    if (profile_.oversubscribed)
      found_.doubts.emplace_back(
          "workers share cores: times include those in which the system ran somebody else");
    if (profile_.foreign_calls > 0)
      found_.doubts.push_back(fmt::format("{} calls by threads that are no ranks are in none of the figures",
                                          profile_.foreign_calls));
    if (!profile_.line_numbers)
      found_.doubts.emplace_back(
          "call sites have no lines: the library libdw.so.1 (Debian: libdw1) is not installed");
  }

  const Profile& profile_;
  const Sums sums_;
  const double cores_;
  Findings found_;
};

}  // namespace

Findings findings_of(const Profile& profile) {
  return Finder(profile).all();
}

}  // namespace tmpi::advise
