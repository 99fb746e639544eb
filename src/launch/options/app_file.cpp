#include "launch/options/app_file.hpp"

#include <algorithm>
#include <utility>

#include "launch/options/text_file.hpp"
#include "launch/system/words.hpp"

namespace tmpi::launch {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// Up to the # of a comment, which is not within '...' or "...".
std::string_view without_comment(std::string_view line) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '#' && (i == 0 || is_blank(line[i - 1]))) {
      return line.substr(0, i);
    }
  }
  return line;
}

}  // namespace

Result<std::vector<AppFileLine>> parse_app_file(std::string_view text) {
  std::vector<AppFileLine> lines;
  std::string begun;  // lines that the next one goes on
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    begun += without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::ranges::replace(begun, '\r', ' ');
    if (begun.ends_with('\\') && !text.empty()) {
      begun.back() = ' ';
      continue;
    }
    std::vector<std::string> words = split_words(std::exchange(begun, {}));
    if (!words.empty() && words.back() == ":") words.pop_back();
    if (!words.empty()) lines.push_back({number, std::move(words)});
  }
  if (lines.empty()) return Failure{"there is no program in it"};
  return lines;
}

Result<std::vector<AppFileLine>> read_app_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path, "programs");
  if (!text) return text.failure();
  return parse_app_file(*text);
}

}  // namespace tmpi::launch
