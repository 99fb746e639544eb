// tmpi-advise: from a profile (tmpirun --profile=FILE), whether progress beside the ranks would pay.
#include <fmt/core.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "advise/advice.hpp"

namespace {

constexpr int kUsage = 2;

constexpr char kHelp[] =
    "usage: tmpi-advise [--svg FILE] PROFILE\n"
    "Says from a profile (tmpirun --progress poll --profile=PROFILE ...) whether --progress thread or core "
    "would pay, "
    "and what that rests on.\n"
    "  --svg FILE   draws the predicted speedup over the share of blocking calls made nonblocking\n"
    "  -h, --help   print this text\n"
    "PROFILE is - for standard input. docs/design/advice.md explains the model.\n";

int complain(const std::string& sentence) {
  fmt::print(stderr, "tmpi-advise: {}\n", sentence);
  return kUsage;
}

bool read_all(const std::string& path, std::string& text) {
  if (path == "-") {
    char piece[4096];
    for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, stdin)) > 0;) text.append(piece, n);
    return std::ferror(stdin) == 0;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf())) return false;
  text = content.str();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::string path, drawing;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-h" || word == "--help") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (word == "--svg") {
      if (++i == argc) return complain("--svg needs a file to write to");
      drawing = argv[i];
    } else if (word.size() > 1 && word[0] == '-') {
      return complain(fmt::format("unknown option '{}'. `tmpi-advise --help` lists all", word));
    } else if (!path.empty()) {
      return complain("one profile at a time");
    } else {
      path = word;
    }
  }
  if (path.empty()) {
    fmt::print(stderr, "{}", kHelp);
    return kUsage;
  }
  std::string text;
  if (!read_all(path, text)) return complain(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  const auto profile = tmpi::observe::parse_profile(text);
  if (!profile) return complain(fmt::format("{}: {}", path, profile.message()));
  const auto reading = tmpi::advise::read(*profile);
  if (!reading) return complain(fmt::format("{}: {}", path, reading.message()));
  fmt::print("{}", tmpi::advise::advice_text(*profile, *reading));
  if (drawing.empty()) return 0;
  std::ofstream svg(drawing);
  svg << tmpi::advise::alpha_sweep_svg(*reading, profile->program);
  if (!svg.flush()) return complain(fmt::format("cannot write {}: {}", drawing, std::strerror(errno)));
  return 0;
}
