// Which transport a --net value names, and how it is made.
#include <fmt/format.h>

#include "net/maker.hpp"
#include "net/transports.hpp"

namespace tmpi::net {
namespace {

const Maker& maker_of(TransportKind kind) {
  switch (kind) {
    case TransportKind::kAuto:  // create_transport() has decided
    case TransportKind::kTcp:
      return kTcp;
    case TransportKind::kVerbs:
      return kVerbs;
    case TransportKind::kOfi:
      return kOfi;
    case TransportKind::kSim:
      return kSim;
  }
  __builtin_unreachable();  // one case for each row of kTransports: the compiler tells if one is missing
}

// What the spec names, its settings checked.
Result<TransportChoice> choose_checked(std::string_view spec) {
  Result<TransportChoice> chosen = parse_transport(spec);
  if (!chosen) return Failure{fmt::format("--net {}: {}", spec, chosen.message())};
  if (chosen->kind == TransportKind::kAuto && !chosen->settings.empty())
    return Failure{fmt::format("--net {}: auto has no settings; name the transport that they are for", spec)};
  if (const Result<void> fine = maker_of(chosen->kind).check(chosen->settings); !fine) return fine.failure();
  return chosen;
}

// The same, with auto decided.
Result<TransportChoice> choose_one(std::string_view spec) {
  Result<TransportChoice> chosen = choose_checked(spec);
  // Node processes of several machines are told by tmpirun, which knows what all of them have.
  if (chosen && chosen->kind == TransportKind::kAuto)
    chosen->kind = kVerbs.why_not_here().empty() ? TransportKind::kVerbs : TransportKind::kTcp;
  return chosen;
}

}  // namespace

void prepare_process(std::string_view spec) {
  const auto chosen = choose_one(spec);
  if (chosen && maker_of(chosen->kind).before_threads != nullptr) maker_of(chosen->kind).before_threads();
}

Result<void> check_spec(std::string_view spec) {
  const auto chosen = choose_checked(spec);
  return chosen ? Result<void>() : Result<void>(chosen.failure());
}

Result<std::unique_ptr<Transport>> create_transport(const Options& options, Sink& sink) {
  const auto chosen = choose_one(options.spec);
  if (!chosen) return chosen.failure();
  return maker_of(chosen->kind).make(chosen->settings, options, sink);
}

std::string describe_transports() {
  std::string text;
  for (const Choice<TransportKind>& row : kTransports)
    text += fmt::format("{}: {}\n{}", row.name, row.help,
                        row.value == TransportKind::kAuto ? "" : maker_of(row.value).settings);
  return text;
}

std::vector<NamedLimit> named_limits() {
  std::vector<NamedLimit> all;
  for (const Maker* maker : {&kTcp, &kVerbs, &kOfi, &kSim})
    all.insert(all.end(), maker->named_limits.begin(), maker->named_limits.end());
  return all;
}

}  // namespace tmpi::net
