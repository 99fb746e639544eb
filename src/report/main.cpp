// tmpi-report: profiles (tmpirun --profile=FILE) as a page for the browser.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "report/page.hpp"

namespace {

constexpr int kUsage = 2;
constexpr std::size_t kMostProfiles = 2;

constexpr char kHelp[] =
    "usage: tmpi-report [-o FILE.html] [--trace TRACE] PROFILE [PROFILE]\n"
    "Makes a page for the browser from a profile (tmpirun --profile=PROFILE ...), or from two, beside each "
    "other.\n"
    "  -o FILE        where to write it; default: the first profile's name with .html in the place of .json\n"
    "  --trace TRACE  show a window of this trace (tmpirun --trace TRACE) of the first run\n"
    "  -h, --help     print this text\n"
    "The page is one file that needs no network. docs/reference/profiling.md explains what it shows.\n";

int complain(const std::string& sentence) {
  fmt::print(stderr, "tmpi-report: {}\n", sentence);
  return kUsage;
}

struct Arguments {
  std::vector<std::string> profiles;
  std::string page, trace;
  bool help = false;
};

tmpi::Result<Arguments> parse(int argc, char** argv) {
  Arguments parsed;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-h" || word == "--help") {
      parsed.help = true;
    } else if (word == "-o" || word == "--trace") {
      if (++i == argc) return tmpi::Failure{fmt::format("{} needs a file", word)};
      (word == "-o" ? parsed.page : parsed.trace) = argv[i];
    } else if (word.size() > 1 && word[0] == '-') {
      return tmpi::Failure{fmt::format("unknown option '{}'. `tmpi-report --help` lists all", word)};
    } else {
      parsed.profiles.push_back(word);
    }
  }
  if (parsed.profiles.size() > kMostProfiles)
    return tmpi::Failure{fmt::format("two profiles at most, not {}", parsed.profiles.size())};
  if (parsed.page.empty() && !parsed.profiles.empty()) {
    const std::string& first = parsed.profiles.front();
    parsed.page = (first.ends_with(".json") ? first.substr(0, first.size() - 5) : first) + ".html";
  }
  return parsed;
}

tmpi::Result<tmpi::observe::Profile> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad())
    return tmpi::Failure{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  auto profile = tmpi::observe::parse_profile(content);
  if (!profile) return tmpi::Failure{fmt::format("{}: {}", path, profile.message())};
  return profile;
}

}  // namespace

// What is thrown, for want of memory, ends the program.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  const auto arguments = parse(argc, argv);
  if (!arguments) return complain(arguments.message());
  if (arguments->help || arguments->profiles.empty()) {
    fmt::print(arguments->help ? stdout : stderr, "{}", kHelp);
    return arguments->help ? 0 : kUsage;
  }
  std::vector<tmpi::observe::Profile> profiles;
  for (const std::string& path : arguments->profiles) {
    auto profile = read(path);
    if (!profile) return complain(profile.message());
    profiles.push_back(*std::move(profile));
  }
  std::vector<tmpi::report::Shown> shown;
  for (std::size_t i = 0; i < profiles.size(); ++i) shown.push_back({arguments->profiles[i], &profiles[i]});
  const auto page = tmpi::report::make_page(shown, arguments->trace);
  if (!page) return complain(page.message());
  std::ofstream file(arguments->page, std::ios::binary);
  file << *page;
  if (!file.flush())
    return complain(fmt::format("cannot write {}: {}", arguments->page, std::strerror(errno)));
  fmt::print("{}: {:.1f} MB, open it with a browser\n", arguments->page,
             1e-6 * static_cast<double>(page->size()));
  return 0;
}
