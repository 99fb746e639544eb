// Which transports there are, and which of them a --net value names.
#include <fmt/format.h>

#include <utility>

#include "net/maker.hpp"

namespace tmpi::net {
namespace {

constexpr const Maker* kMakers[] = {&kTcp, &kSim};

// The maker that the spec names, and its settings.
Result<std::pair<const Maker*, std::string_view>> find(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const std::string_view settings =
      colon == std::string_view::npos ? std::string_view() : spec.substr(colon + 1);
  std::string names;
  for (const Maker* maker : kMakers) {
    if (name == maker->name) return std::pair{maker, settings};
    names += fmt::format("{}{}", names.empty() ? "" : ", ", maker->name);
  }
  return Failure{
      fmt::format("--net {}: there is no transport \"{}\"; there are: {} (`tmpirun --net help` says more)",
                  spec, name, names)};
}

}  // namespace

Result<void> check_spec(std::string_view spec) {
  const auto found = find(spec);
  if (!found) return found.failure();
  return found->first->check(found->second);
}

Result<std::unique_ptr<Transport>> create_transport(const Options& options, Sink& sink) {
  const auto found = find(options.spec);
  if (!found) return found.failure();
  if (const Result<void> fine = found->first->check(found->second); !fine) return fine.failure();
  return found->first->make(found->second, options, sink);
}

std::string describe_transports() {
  std::string text;
  for (const Maker* maker : kMakers) text += fmt::format("{}\n{}", maker->name, maker->settings);
  return text;
}

}  // namespace tmpi::net
