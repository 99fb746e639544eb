#include "advise/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/append.hpp"

namespace tmpi::advise {
namespace {

constexpr double kAlphas[] = {0, 0.25, 0.5, 0.75, 1};
// Less is noise.
constexpr double kWorthIt = 0.98;

constexpr int kVratios[] = {1, 2, 3, 4, 6};
constexpr double kLargestEager = 1 << 20;  // more memory for messages that nobody waits for is no advice

constexpr Way kWays[] = {Way::kAtSchedulingPoints, Way::kUnasked, Way::kBeside, Way::kReadBeside};

bool possible(const Reading& reading, Way way) noexcept {
  if (way == Way::kReadBeside) return reading.can_read;
  return way != Way::kUnasked || reading.largest_message <= kLargestEager;
}

std::string table_of_vratios(const Reading& reading) {
  if (reading.vratio != 1) {
    return fmt::format(
        "\nranks per core: no prediction; that takes a profile with one rank per core (--vratio 1), and this "
        "has {:.3g}\n",
        reading.vratio);
  }
  const std::vector<Doubt> doubts = doubts_of_vratios(reading);
  const auto cell = [&](int vratio, Way way) {
    if (way == Way::kReadBeside && !reading.can_read) return std::string("-");
    std::string marked = fmt::format("{:.4g}", with_ranks_per_core(reading.one_rank, vratio, way));
    for (const Doubt& doubt : doubts) {
      if (doubt.concerns(vratio, way)) marked += doubt.mark;
    }
    return marked;
  };
  std::string text =
      "\nranks per core, the same work in V times as many ranks: predicted time, s\n"
      "     V   poll, rendezvous       eager      thread  thread, read\n";
  for (const int vratio : kVratios) {
    append(text, "  {:>4}", vratio);
    constexpr int kWidths[] = {19, 12, 12, 14};
    for (std::size_t i = 0; i < std::size(kWays); ++i)
      append(text, "{:>{}}", cell(vratio, kWays[i]), kWidths[i]);
    text += "\n";
  }
  for (const Doubt& doubt : doubts) append(text, "  {}: {}.\n", doubt.mark, doubt.sentence);
  const Choice best = best_choice(reading);
  if (best.vratio == 1 && best.way == Way::kAtSchedulingPoints)
    return text + "  more ranks per core, larger eager messages or a thread do not pay.\n";
  return text + fmt::format("  best: {} ({:.4g} s).\n", options_of(reading, best), best.time);
}

std::string line(const char* name, double time, double total) {
  if (!std::isfinite(time)) return fmt::format("  {:<34}{:>12}\n", name, "-");
  return fmt::format("  {:<34}{:>10.4g} s{:>9.2f}\n", name, time, total / time);
}

}  // namespace

std::string options_of(const Reading& reading, const Choice& choice) {
  std::string text = fmt::format("--vratio {}", choice.vratio);
  if (choice.way == Way::kUnasked)
    text += fmt::format(" --eager-limit {}K", static_cast<long>(reading.largest_message / 1024) + 1);
  if (choice.way == Way::kBeside) text += " --progress thread";
  if (choice.way == Way::kReadBeside) text += " --progress thread --rndv read";
  return text;
}

// The fewest ranks, and the least help, that are no slower than the best by more than noise.
Choice best_choice(const Reading& reading) noexcept {
  const double ran = with_ranks_per_core(reading.one_rank, 1, Way::kAtSchedulingPoints);
  Choice chosen{.time = ran};
  if (reading.vratio != 1) return chosen;
  double least = ran;
  for (const int vratio : kVratios) {
    for (const Way way : kWays) {
      if (possible(reading, way)) least = std::min(least, with_ranks_per_core(reading.one_rank, vratio, way));
    }
  }
  for (const int vratio : kVratios) {
    for (const Way way : kWays) {
      const double time = with_ranks_per_core(reading.one_rank, vratio, way);
      if (possible(reading, way) && kWorthIt * time <= least) return {vratio, way, time};
    }
  }
  return chosen;
}

std::string advice_text(const observe::Profile& profile, const Reading& reading) {
  const Measured& run = reading.run;
  std::string text =
      fmt::format("{}: {:.4g} s, {} ranks on {} cores, {:g} per node\n\n", profile.program, run.total,
                  profile.ranks.size(),
                  profile.workers.size() * static_cast<std::size_t>(profile.cores_per_worker), run.cores);
  append(text, "measured, of a core            calls        time    shortest\n");
  const auto row = [&](const char* name, const Calls& calls) {
    append(text, "  {:<24}{:>10.4g}{:>10.4g} s{:>9.3g} us\n", name, calls.number, calls.time,
           1e6 * calls.shortest);
  };
  append(text, "  {:<24}{:>10}{:>10.4g} s\n", "computing", "", run.computing);
  row("blocking communication", run.blocking);
  row("initiations", run.nonblocking);
  row("tests", run.test);
  row("waits", run.wait);
  row("other, and the rest", run.other);
  append(text, "  {:<34}{:>10.4g} s\n\n", "computed between the two", reading.between);

  const double taken = taken_by_thread(reading), exposed = exposed_waits(reading);
  const double thread = with_thread(run, 0, taken), core = with_core(run, 0);
  const double spare = with_thread(run, 0, 0);  // no rank loses its core
  append(text, "predicted                                 time  speedup\n");
  text += line("as it ran", run.total, run.total);
  text += line("--progress core (the paper's model)", core, run.total);
  text += line("  and what stays exposed", core + exposed, run.total);
  text += line("--progress core, of cores to spare", spare + exposed, run.total);
  text += line("--progress thread", thread, run.total);
  text += line("  and what stays exposed", thread + exposed, run.total);
  append(text, "\nif a share alpha of the blocking calls were nonblocking, --progress core\n  alpha        ");
  for (const double alpha : kAlphas) append(text, "{:>9g}", alpha);
  for (const double cores : {run.cores, 2 * run.cores, 4 * run.cores}) {
    if (cores <= 1) continue;
    append(text, "\n  {:>4g} cores   ", cores);
    for (const double alpha : kAlphas) append(text, "{:>9.2f}", run.total / with_core(run, alpha, cores));
  }
  append(text, "\n  thread       ");
  for (const double alpha : kAlphas) append(text, "{:>9.2f}", run.total / with_thread(run, alpha, taken));
  text += "\n\n";

  const double best_core = core + exposed, best_thread = thread + exposed;
  if (std::min(best_core, best_thread) > kWorthIt * run.total) {
    text += "neither a thread nor a core pays.\n";
  } else {
    append(text, "--progress {} pays.\n", best_core < kWorthIt * best_thread ? "core" : "thread");
  }
  if (const double least = least_alpha(run); least > 0 && least <= 1)
    append(text, "A core pays from alpha = {:.2f} on.\n", least);
  text += table_of_vratios(reading);
  for (const std::string& sentence : reading.doubts) append(text, "note: {}.\n", sentence);
  return text;
}

std::string alpha_sweep_svg(const Reading& reading, const std::string& title) {
  constexpr double kLeft = 60, kTop = 40, kWidth = 480, kHeight = 300;
  constexpr const char* kColours[] = {"#c0392b", "#27ae60", "#2980b9", "#7f8c8d"};
  const Measured& run = reading.run;
  struct Curve {
    std::string name;
    double at_0, at_1;  // times: linear in alpha
  };
  std::vector<Curve> curves;
  for (const double cores : {run.cores, 2 * run.cores, 4 * run.cores}) {
    if (cores > 1)
      curves.push_back(
          {fmt::format("{:g} cores", cores), with_core(run, 0, cores), with_core(run, 1, cores)});
  }
  const double taken = taken_by_thread(reading);
  curves.push_back({"thread", with_thread(run, 0, taken), with_thread(run, 1, taken)});
  double most = 1.2;
  for (const Curve& curve : curves)
    most = std::max({most, 1.05 * run.total / curve.at_0, 1.05 * run.total / curve.at_1});
  const auto x = [&](double alpha) { return kLeft + kWidth * alpha; };
  const auto y = [&](double speedup) { return kTop + kHeight * (1 - speedup / most); };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"400\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"640\" height=\"400\" fill=\"white\"/>\n<text x=\"{}\" y=\"22\" "
      "font-size=\"14\">",
      kLeft);
  for (const char c : title) svg += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  svg += "</text>\n";
  for (int i = 0; i <= 10; i += 2) {
    append(svg, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n", x(0.1 * i),
           kTop + kHeight + 18, 0.1 * i);
  }
  for (double speedup = 0; speedup <= most; speedup += most > 4 ? 1 : most > 2 ? 0.5 : 0.2) {
    append(svg,
           "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#dddddd\"/>\n<text x=\"{3}\" "
           "y=\"{4:.1f}\" text-anchor=\"end\">{5:.1f}</text>\n",
           kLeft, kLeft + kWidth, y(speedup), kLeft - 6, y(speedup) + 4, speedup);
  }
  append(svg,
         "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"black\" "
         "stroke-dasharray=\"4 3\"/>\n<text x=\"{3}\" y=\"{4}\" text-anchor=\"middle\">alpha, share of "
         "blocking calls made nonblocking (speedup over the run as it was)</text>\n",
         kLeft, kLeft + kWidth, y(1), kLeft + kWidth / 2, kTop + kHeight + 40);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    append(svg, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"{}\" points=\"", colour);
    for (int step = 0; step <= 50; ++step) {
      const double alpha = step / 50.0, time = (1 - alpha) * curves[i].at_0 + alpha * curves[i].at_1;
      append(svg, "{:.1f},{:.1f} ", x(alpha), y(run.total / time));
    }
    append(svg, "\"/>\n<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", kLeft + kWidth + 8,
           kTop + 14 + 18 * i, colour, curves[i].name);
  }
  return svg + "</svg>\n";
}

}  // namespace tmpi::advise
