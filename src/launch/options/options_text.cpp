// Help and documentation, generated from the table.
#include <fmt/core.h>

#include "launch/options/options.hpp"
#include "launch/system/version.hpp"

namespace tmpi::launch {

namespace {

constexpr std::size_t kColumn = 26;
constexpr std::size_t kWidth = 100;

std::string joined_spellings(const Option& option, std::string_view separator) {
  const bool glued = option.argument.starts_with('[');
  std::string text = std::string(option.name) + (glued ? option.argument : "");
  for (char c : std::string(option.aliases.empty() ? "" : " ") + std::string(option.aliases)) {
    if (c == ' ')
      text += separator;
    else
      text += c;
  }
  if (!glued && !option.argument.empty()) text += " " + option.argument;
  return text;
}

/// `text` broken into lines that end before column kWidth and begin at column kColumn.
std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t column = kColumn;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (column > kColumn && column + blank >= kWidth) {
      out += "\n" + std::string(kColumn, ' ');
      column = kColumn;
    } else if (column > kColumn) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, blank);
    column += blank;
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return out;
}

template <class OnGroup, class OnOption>
void for_each_shown(OnGroup on_group, OnOption on_option) {
  std::string_view group;
  for (const Option& option : option_table()) {
    if (option.group.empty()) continue;
    if (option.group != group) on_group(group = option.group);
    on_option(option);
  }
}

struct Style {
  std::string_view heading, option, end;
};
constexpr Style kPlain = {};
constexpr Style kColoured = {"\033[1m", "\033[36m", "\033[0m"};

std::string heading_line(std::string_view group, const Style& style) {
  return fmt::format("\n{}{}:{}\n", style.heading, group, style.end);
}

std::string option_text(const Option& option, const Style& style) {
  const std::string names = joined_spellings(option, ", ");
  const std::size_t left = 2 + names.size();
  std::string help(option.help);
  if (!option.variable.empty()) help += fmt::format(" [{}]", option.variable);
  return fmt::format("  {}{}{}{}{}\n", style.option, names, style.end,
                     left + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - left, ' '),
                     wrapped(help));
}

std::string topic_text(std::string_view topic, const Style& style) {
  std::string out;
  for (const Topic& each : topic_table()) {
    if (each.name != topic) continue;
    out += heading_line(each.heading, style).substr(1);
    for (const Option& option : option_table())
      if (option.group == each.heading) out += option_text(option, style);
    return out;
  }
  for (const Option& option : option_table())
    if (has_spelling(option, topic)) out += option_text(option, style);
  return out;
}

}  // namespace

bool is_topic(std::string_view topic) {
  return !topic_text(topic, kPlain).empty();
}

std::string help_text(std::string_view topic, bool coloured) {
  const Style& style = coloured ? kColoured : kPlain;
  if (!topic.empty()) return topic_text(topic, style);
  std::string out =
      "Usage: tmpirun [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...\n\n"
      "Runs an MPI program built with tmpicc: N ranks as fibers on the cores of this machine.\n";
  for_each_shown([&](std::string_view group) { out += heading_line(group, style); },
                 [&](const Option& option) { out += option_text(option, style); });
  out +=
      "\nLong options are also accepted with one dash. The environment variable in brackets sets an option's "
      "default.\n"
      "Ctrl-C ends the job, SIGUSR1 to tmpirun prints where every rank is.\n";
  return out;
}

std::string option_lines() {
  std::string out;
  for_each_shown([](std::string_view) {},
                 [&](const Option& option) {
                   out += fmt::format("{} {}\t{}\t{}\t{}\t{}\t{}\n", option.name, option.aliases,
                                      option.variable, option.argument, option.values, option.group,
                                      option.help);
                 });
  return out;
}

std::string markdown_table() {
  std::string out = "| option | environment | meaning |\n| --- | --- | --- |\n";
  for_each_shown([&](std::string_view) {},
                 [&](const Option& option) {
                   std::string names = joined_spellings(option, "`, `");
                   for (std::size_t at = 0; (at = names.find('|', at)) != std::string::npos; at += 2)
                     names.insert(at, "\\");
                   out += fmt::format("| `{}` | {} | {} |\n", names,
                                      option.variable.empty() ? "" : fmt::format("`{}`", option.variable),
                                      option.help);
                 });
  return out;
}

}  // namespace tmpi::launch
