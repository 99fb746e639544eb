#include "launch/report/demangle.hpp"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace tmpi::launch {

std::string demangle_words(std::string_view text) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
  };
  std::string out;
  while (!text.empty()) {
    std::size_t length = 0;
    while (length < text.size() && in_word(text[length])) ++length;
    if (length == 0) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::string word(text.substr(0, length));
    text.remove_prefix(length);
    // gcc's name for a function's entry that calls within its file take; nobody has written it.
    constexpr std::string_view kAlias = ".localalias";
    if (word.ends_with(kAlias)) word.resize(word.size() - kAlias.size());
    int status = -1;
    std::unique_ptr<char, void (*)(void*)> readable(nullptr, std::free);
    if (word.starts_with("_Z")) readable.reset(abi::__cxa_demangle(word.c_str(), nullptr, nullptr, &status));
    out += status == 0 ? readable.get() : word;
  }
  return out;
}

}  // namespace tmpi::launch
