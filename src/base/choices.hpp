// Choices: the values of an option that names one of a few things (a policy, a protocol, a transport), as one
// table. Parsing, help, documentation and error messages are made from its rows, and whoever builds the thing
// switches over the rows' values. Rows stand in the order of the help text; the first is the default.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tmpi {

template <class Value>
struct Choice {
  std::string_view name;  ///< as users write it
  Value value;
  std::string_view help;      ///< a clause: what it means
  std::string_view argument;  ///< what stands behind the name: ":SEED", "[:SETTINGS]"; empty: nothing
};

/// A choice as a user has written it.
template <class Value>
struct Chosen {
  const Choice<Value>* choice = nullptr;  ///< null: there is none of that name
  std::string_view argument;              ///< what stands behind the colon, empty: nothing
};

/// `text` is "NAME" or "NAME:ARGUMENT". Whether the row takes an argument is for the caller to see.
template <class Value, std::size_t N>
constexpr Chosen<Value> choose(const Choice<Value> (&table)[N], std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const Choice<Value>& row : table) {
    if (row.name == text.substr(0, colon))
      return {&row, colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1)};
  }
  return {};
}

/// The row that is called `name`, null if there is none; for tables without arguments.
template <class Value, std::size_t N>
constexpr const Choice<Value>* find_choice(const Choice<Value> (&table)[N], std::string_view name) {
  for (const Choice<Value>& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// A row as it is written: "fifo", "random:SEED".
template <class Value>
std::string syntax_of(const Choice<Value>& row) {
  return std::string(row.name).append(row.argument);
}

/// All rows as they are written, with `between` between two and `last` before the last one:
/// "fifo, lifo or random:SEED". `quote` stands around each.
template <class Value, std::size_t N>
std::string list_choices(const Choice<Value> (&table)[N], std::string_view between, std::string_view last,
                         std::string_view quote = "") {
  std::string text;
  for (std::size_t i = 0; i < N; ++i) {
    if (i > 0) text += i + 1 == N ? last : between;
    text.append(quote).append(syntax_of(table[i])).append(quote);
  }
  return text;
}

/// All rows with what they mean: "fifo (default; first come, first served), lifo (...)".
template <class Value, std::size_t N>
std::string describe_choices(const Choice<Value> (&table)[N]) {
  std::string text;
  for (std::size_t i = 0; i < N; ++i) {
    text += i == 0 ? "" : ", ";
    text.append(syntax_of(table[i])).append(i == 0 ? " (default; " : " (").append(table[i].help).append(")");
  }
  return text;
}

}  // namespace tmpi
