#include "words.hpp"

#include <fstream>
#include <iterator>
#include <utility>

namespace tmpi::wrapper {
namespace {

constexpr int kDeepestNesting = 50;  // a response file that names itself must not hang the wrapper

void expand_into(std::vector<std::string>& result, const std::vector<std::string>& arguments, int depth) {
  for (const std::string& argument : arguments) {
    if (argument.size() > 1 && argument[0] == '@' && depth < kDeepestNesting) {
      if (std::ifstream file(argument.substr(1)); file) {
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        expand_into(result, split_words(text), depth + 1);
        continue;
      }
    }
    result.push_back(argument);
  }
}

bool needs_quotes(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=/.,:@%^";
  return word.empty() || word.find_first_not_of(kPlain) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;  // also true for an empty quoted word
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      inside = true;
    } else if (std::string_view(" \t\n\r\f\v").find(c) != std::string_view::npos) {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

std::vector<std::string> expand_response_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  expand_into(result, arguments, 0);
  return result;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!needs_quotes(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

}  // namespace tmpi::wrapper
