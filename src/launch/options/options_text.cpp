// Help, manual page and documentation, generated from the table.
#include <fmt/core.h>

#include "launch/options/options.hpp"
#include "launch/system/version.hpp"

namespace tmpi::launch {

namespace {

constexpr std::size_t kColumn = 26;
constexpr std::size_t kWidth = 100;

std::string joined_spellings(const Option& option, std::string_view separator) {
  std::string text(option.name);
  for (char c : std::string(option.aliases.empty() ? "" : " ") + std::string(option.aliases)) {
    if (c == ' ')
      text += separator;
    else
      text += c;
  }
  if (!option.argument.empty())
    text += fmt::format("{}{}", option.argument.starts_with('[') ? "" : " ", option.argument);
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

std::string escaped_for_troff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '-')
      out += "\\-";
    else if (c == '\\')
      out += "\\e";
    else
      out += c;
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

}  // namespace

std::string help_text() {
  std::string out =
      "Usage: tmpirun [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...\n\n"
      "Runs an MPI program built with tmpicc: N ranks as fibers on the cores of this machine.\n";
  for_each_shown([&](std::string_view group) { out += fmt::format("\n{}:\n", group); },
                 [&](const Option& option) {
                   std::string left = "  " + joined_spellings(option, ", ");
                   left += left.size() + 2 > kColumn ? "\n" + std::string(kColumn, ' ')
                                                     : std::string(kColumn - left.size(), ' ');
                   std::string help(option.help);
                   if (!option.variable.empty()) help += fmt::format(" [{}]", option.variable);
                   out += left + wrapped(help) + "\n";
                 });
  out +=
      "\nLong options are also accepted with one dash. The environment variable in brackets sets an option's "
      "default.\n"
      "Ctrl-C ends the job, SIGUSR1 to tmpirun prints where every rank is.\n";
  return out;
}

std::string manual_page() {
  std::string out = fmt::format(
      ".TH TMPIRUN 1 \"\" \"tmpi {}\" \"tmpi\"\n.SH NAME\ntmpirun \\- run an MPI program with many ranks per "
      "core\n.SH SYNOPSIS\n"
      ".B tmpirun\n[options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...\n.SH DESCRIPTION\nRuns "
      "an MPI program built with "
      "tmpicc or tmpicxx: the ranks are fibers of one process per machine, V of them on each core.\n.SH "
      "OPTIONS\n",
      kVersion);
  for_each_shown([&](std::string_view group) { out += fmt::format(".SS {}\n", group); },
                 [&](const Option& option) {
                   out += fmt::format(".TP\n.B {}\n{}\n", escaped_for_troff(joined_spellings(option, ", ")),
                                      escaped_for_troff(option.help));
                   if (!option.variable.empty()) out += fmt::format("Environment: {}.\n", option.variable);
                 });
  out +=
      ".SH EXIT STATUS\nThe first non\\-zero exit code of a rank, 0 if there is none; the code given to "
      "MPI_Abort; 128 plus the number of "
      "a fatal signal; 124 after \\-\\-timeout; 127 if the program is missing, 126 if it cannot be run; 2 "
      "for a wrong command line.\n";
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
