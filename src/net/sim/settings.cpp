#include "net/sim/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>

namespace tmpi::net::sim {
namespace {

// Before dilation: seconds and bytes per second.
struct Wire {
  double latency = 0, overhead = 0, gap = 0, jitter = 0;
  double bandwidth = 0;
  double seed = 1;
  double dilation = 1;
  double buffers = 64;
};

struct Preset {
  const char* name;
  Wire wire;
};

// What MPI programs see of such networks: o + L + o is the time of a short message that benchmarks report,
// the bandwidth is what remains of the signalling rate behind encoding and packet headers, 1/g the messages
// that one interface carries per second.
constexpr Preset kPresets[] = {
    // 4 lanes of 14.0625 Gbit/s, 64b/66b encoding, PCI Express 3.0 x8: 6.2 GB/s; 1.1 us.
    {"fdr-ib", {.latency = 0.7e-6, .overhead = 0.2e-6, .gap = 0.1e-6, .bandwidth = 6.2e9}},
    // 4 lanes of 53 Gbit/s: 24.5 GB/s; 1.0 us.
    {"hdr-ib", {.latency = 0.6e-6, .overhead = 0.2e-6, .gap = 0.02e-6, .bandwidth = 24.5e9}},
    // 200 Gbit/s Ethernet with a switch of three hops' group: 24 GB/s; 1.9 us.
    {"slingshot", {.latency = 1.5e-6, .overhead = 0.2e-6, .gap = 0.02e-6, .bandwidth = 24.0e9}},
    // 10 Gbit/s Ethernet through the kernel's TCP: 1.17 GB/s; 16 us.
    {"10gbe", {.latency = 10e-6, .overhead = 3e-6, .gap = 0.5e-6, .bandwidth = 1.17e9}},
};

struct Unit {
  const char* name;
  double factor;
};
constexpr Unit kTimes[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kRates[] = {
    {"B/s", 1},          {"KB/s", 1e3},       {"kB/s", 1e3},       {"MB/s", 1e6},           {"GB/s", 1e9},
    {"TB/s", 1e12},      {"KiB/s", 1024},     {"MiB/s", 1048576},  {"GiB/s", 1073741824.0}, {"bit/s", 0.125},
    {"kbit/s", 0.125e3}, {"Mbit/s", 0.125e6}, {"Gbit/s", 0.125e9}, {"Tbit/s", 0.125e12}};
constexpr Unit kNumbers[] = {{"", 1}};

struct Setting {
  const char* name;
  double Wire::*value;
  std::span<const Unit> units;
  double least, most;
  const char* accepted;
};

constexpr const char* kTimeAccepted = "a time of 0 to 1000 s with its unit, ns, us, ms or s, as in 5us";
constexpr Setting kSettings[] = {
    {"latency", &Wire::latency, kTimes, 0, 1000, kTimeAccepted},
    {"bandwidth", &Wire::bandwidth, kRates, 1, 1e15,
     "bytes or bits per second with the unit, as in 7GB/s, 500MiB/s or 56Gbit/s"},
    {"overhead", &Wire::overhead, kTimes, 0, 1000, kTimeAccepted},
    {"gap", &Wire::gap, kTimes, 0, 1000, kTimeAccepted},
    {"jitter", &Wire::jitter, kTimes, 0, 1000, kTimeAccepted},
    {"seed", &Wire::seed, kNumbers, 0, 9e15, "a whole number"},
    {"dilation", &Wire::dilation, kNumbers, 1e-3, 1e6, "a factor of 0.001 to 1000000"},
    {"buffers", &Wire::buffers, kNumbers, 1, 65536, "a whole number of 1 to 65536"},
};

std::string presets() {
  std::string names;
  for (const Preset& preset : kPresets) names += fmt::format("{}{}", names.empty() ? "" : ", ", preset.name);
  return names;
}

std::string settings() {
  std::string names;
  for (const Setting& setting : kSettings)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", setting.name);
  return names;
}

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : kPresets)
    if (name == preset.name) return &preset;
  return nullptr;
}

// A number with one of the units right behind it.
std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& known : units)
    if (unit == known.name) return number * known.factor;
  return std::nullopt;
}

Result<void> apply(Wire& wire, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  if (equals == std::string_view::npos)
    return Failure{
        fmt::format("--net sim: \"{}\" is no preset and no setting; presets, as the first word: {}; "
                    "settings, as name=value: {}",
                    word, presets(), settings())};
  for (const Setting& setting : kSettings) {
    if (name != setting.name) continue;
    const auto value = parse_quantity(word.substr(equals + 1), setting.units);
    const bool counts = setting.value == &Wire::seed || setting.value == &Wire::buffers;
    const bool whole = !counts || (value && *value == std::floor(*value));
    if (!value || *value < setting.least || *value > setting.most || !whole)
      return Failure{fmt::format("--net sim: {} must be {}, not \"{}\"", name, setting.accepted,
                                 word.substr(equals + 1))};
    wire.*setting.value = *value;
    return {};
  }
  return Failure{fmt::format("--net sim: there is no setting \"{}\"; there are: {}", name, settings())};
}

Model dilated(const Wire& wire) {
  const double scale = 1e9 * wire.dilation;
  const auto time = [scale](double seconds) {
    return static_cast<Nanoseconds>(std::llround(seconds * scale));
  };
  Model model;
  model.latency = time(wire.latency);
  model.overhead = time(wire.overhead);
  model.gap = time(wire.gap);
  model.jitter = time(wire.jitter);
  model.per_byte = scale / wire.bandwidth;
  model.dilation = wire.dilation;
  model.seed = static_cast<std::uint64_t>(wire.seed);
  model.buffers = static_cast<std::size_t>(wire.buffers);
  return model;
}

}  // namespace

const char* const kSettingsHelp =
    "    models the wire between node processes of one machine (LogGP); CPUs stay free meanwhile\n"
    "    fdr-ib | hdr-ib | slingshot | 10gbe  preset, as the first word; fdr-ib if nothing is given\n"
    "    latency=TIME      L: time on the wire (ns, us, ms, s)\n"
    "    bandwidth=RATE    1/G: as 7GB/s or 56Gbit/s\n"
    "    overhead=TIME     o: CPU time per message at the sender and at the receiver\n"
    "    gap=TIME          g: least distance between two messages at one network interface\n"
    "    jitter=TIME       each message takes up to this much longer, at random\n"
    "    seed=NUMBER       of the random delays\n"
    "    dilation=FACTOR   all times of the model are multiplied by it, so that what CPUs do here and\n"
    "                      network interfaces elsewhere, copying, weighs less\n"
    "    buffers=NUMBER    receive buffers of the eager limit's size per connection (64)\n";

Result<Model> parse_settings(std::string_view text) {
  Wire wire;
  const Preset* preset = text.empty() ? &kPresets[0] : find_preset(text.substr(0, text.find(',')));
  if (preset != nullptr) {
    wire = preset->wire;
    text.remove_prefix(std::min(text.find(','), text.size()));
    if (!text.empty()) text.remove_prefix(1);
  }
  bool latency = preset != nullptr, bandwidth = latency;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    if (const Result<void> applied = apply(wire, word); !applied) return applied.failure();
    latency = latency || word.starts_with("latency=");
    bandwidth = bandwidth || word.starts_with("bandwidth=");
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  if (!latency || !bandwidth)
    return Failure{
        fmt::format("--net sim: without a preset ({}) both latency and bandwidth must be given, as in "
                    "sim:latency=5us,bandwidth=7GB/s",
                    presets())};
  return dilated(wire);
}

}  // namespace tmpi::net::sim
