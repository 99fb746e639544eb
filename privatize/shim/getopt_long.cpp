// Long names: exact or abbreviated as far as they stay unambiguous.
#include <stdio.h>
#include <string.h>

#include "privatize/shim/option_scan.hpp"

namespace tmpi::shim {
namespace {

bool abbreviates(const char* name, size_t length, const struct option& option) {
  return strncmp(option.name, name, length) == 0;
}

bool same_effect(const struct option& a, const struct option& b) {
  return a.has_arg == b.has_arg && a.flag == b.flag && a.val == b.val;
}

struct Match {
  const struct option* option = nullptr;
  bool ambiguous = false;
};

Match find(const OptionRequest& request, const char* name, size_t length, bool long_only) {
  Match match;
  for (const struct option* o = request.long_options; o->name != nullptr; ++o) {
    if (abbreviates(name, length, *o) && strlen(o->name) == length) return {o, false};
  }
  for (const struct option* o = request.long_options; o->name != nullptr; ++o) {
    if (!abbreviates(name, length, *o)) continue;
    if (match.option == nullptr) {
      match.option = o;
    } else if (long_only || !same_effect(*match.option, *o)) {
      match.ambiguous = true;
    }
  }
  return match;
}

void report_ambiguous(const OptionRequest& request, const char* name, size_t length, bool long_only,
                      const Match& match, const char* dashes) {
  if (!request.report) return;
  flockfile(stderr);
  fprintf(stderr, "%s: option '%s%s' is ambiguous; possibilities:", request.program(), dashes, name);
  for (const struct option* o = request.long_options; o->name != nullptr; ++o) {
    if (!abbreviates(name, length, *o)) continue;
    // Spellings of the first candidate's own effect are not news.
    if (o == match.option || long_only || !same_effect(*match.option, *o))
      fprintf(stderr, " '%s%s'", dashes, o->name);
  }
  fputc('\n', stderr);
  funlockfile(stderr);
}

}  // namespace

int OptionScan::long_option(const OptionRequest& request, bool long_only, const char* dashes) {
  const char* name = rest_;
  const size_t length = strcspn(name, "=");
  const Match match = find(request, name, length, long_only);
  if (match.ambiguous) {
    report_ambiguous(request, name, length, long_only, match, dashes);
    rest_ += strlen(rest_);
    ++optind;
    refused_ = 0;
    return '?';
  }
  if (match.option != nullptr) return take_long(request, *match.option, name + length, dashes);
  // With getopt_long_only one dash and a known letter may still be letters.
  if (long_only && request.argv[optind][1] != '-' && strchr(request.letters, *name) != nullptr)
    return kNotAnOption;
  report_option(request, "unrecognized option '%s%s'", dashes, name);
  rest_ = nullptr;
  ++optind;
  refused_ = 0;
  return '?';
}

int OptionScan::take_long(const OptionRequest& request, const struct option& option, const char* end,
                          const char* dashes) {
  ++optind;
  rest_ = nullptr;
  if (*end != '\0') {
    if (option.has_arg == no_argument) {
      report_option(request, "option '%s%s' doesn't allow an argument", dashes, option.name);
      refused_ = option.val;
      return '?';
    }
    optarg = const_cast<char*>(end) + 1;
  } else if (option.has_arg == required_argument) {
    if (optind >= request.argc) {
      report_option(request, "option '%s%s' requires an argument", dashes, option.name);
      refused_ = option.val;
      return request.missing();
    }
    optarg = request.argv[optind++];
  }
  if (request.long_index != nullptr) *request.long_index = static_cast<int>(&option - request.long_options);
  if (option.flag == nullptr) return option.val;
  *option.flag = option.val;
  return 0;
}

}  // namespace tmpi::shim
