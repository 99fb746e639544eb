#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "privatize/shim/option_scan.hpp"

extern "C" {
char* optarg;
int optind = 1;
int opterr = 1;
int optopt = '?';
}

namespace tmpi::shim {
namespace {

OptionScan scan;

/// What getopt returns for a letter: negative for bytes above 127, as in glibc.
int option_value(char letter) {
  return letter;  // NOLINT(bugprone-signed-char-misuse)
}

bool is_operand(const char* argument) {
  return argument[0] != '-' || argument[1] == '\0';
}

}  // namespace

void report_option(const OptionRequest& request, const char* format, ...) {
  if (!request.report) return;
  flockfile(stderr);
  fprintf(stderr, "%s: ", request.program());
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
}

void OptionScan::begin(const char* letters, bool posix) {
  if (optind == 0) optind = 1;
  operands_begin_ = operands_end_ = optind;
  rest_ = nullptr;
  begun_ = true;
  if (letters[0] == '-') {
    order_ = Order::kOperandsAsOptions;
  } else if (letters[0] == '+' || posix || getenv("POSIXLY_CORRECT") != nullptr) {
    order_ = Order::kStopAtOperand;
  } else {
    order_ = Order::kPermute;
  }
}

/// Moves the operands passed over behind the options read since.
void OptionScan::gather_operands(char** argv) {
  if (operands_begin_ == operands_end_) {
    operands_begin_ = optind;
  } else if (operands_end_ != optind) {
    std::rotate(argv + operands_begin_, argv + operands_end_, argv + optind);
    operands_begin_ += optind - operands_end_;
  }
  operands_end_ = optind;
}

/// Finds the next argument to read: optind is its index.
OptionScan::Step OptionScan::advance(const OptionRequest& request) {
  // The program may have set optind back.
  operands_end_ = std::min(operands_end_, optind);
  operands_begin_ = std::min(operands_begin_, optind);
  if (order_ == Order::kPermute) {
    if (operands_end_ != optind) gather_operands(request.argv);
    while (optind < request.argc && is_operand(request.argv[optind])) ++optind;
    operands_end_ = optind;
  }
  if (optind != request.argc && strcmp(request.argv[optind], "--") == 0) {
    ++optind;
    gather_operands(request.argv);
    operands_end_ = optind = request.argc;
  }
  if (optind == request.argc) {
    if (operands_begin_ != operands_end_) optind = operands_begin_;
    return Step::kEnd;
  }
  if (!is_operand(request.argv[optind])) return Step::kOption;
  return order_ == Order::kStopAtOperand ? Step::kEnd : Step::kOperand;
}

int OptionScan::read(OptionRequest request, bool posix) {
  if (request.argc < 1) return -1;
  optarg = nullptr;
  if (optind == 0 || !begun_) begin(request.letters, posix);
  if (request.letters[0] == '-' || request.letters[0] == '+') ++request.letters;
  request.report = opterr != 0 && request.letters[0] != ':';
  if (rest_ != nullptr && *rest_ != '\0') return short_option(request);
  switch (advance(request)) {
    case Step::kEnd:
      return -1;
    case Step::kOperand:
      optarg = request.argv[optind++];
      return 1;
    case Step::kOption:
      break;
  }
  return start_argument(request);
}

int OptionScan::start_argument(const OptionRequest& request) {
  char* argument = request.argv[optind];
  if (request.long_options != nullptr) {
    if (argument[1] == '-') {
      rest_ = argument + 2;
      return long_option(request, request.long_only, "--");
    }
    // One dash: a long name unless it is a single letter that is an option.
    if (request.long_only && (argument[2] != '\0' || strchr(request.letters, argument[1]) == nullptr)) {
      rest_ = argument + 1;
      const int result = long_option(request, true, "-");
      if (result != kNotAnOption) return result;
    }
  }
  rest_ = argument + 1;
  return short_option(request);
}

int OptionScan::short_option(const OptionRequest& request) {
  const int letter = option_value(*rest_++);
  if (*rest_ == '\0') ++optind;
  const char* found = strchr(request.letters, letter);
  if (found == nullptr || letter == ':' || letter == ';') {
    report_option(request, "invalid option -- '%c'", letter);
    refused_ = letter;
    return '?';
  }
  if (letter == 'W' && found[1] == ';' && request.long_options != nullptr) return w_option(request);
  if (found[1] != ':') return letter;
  return short_argument(request, letter, found[2] == ':');
}

/// The argument of an option letter: the rest of this word, else (unless optional) the next word.
int OptionScan::short_argument(const OptionRequest& request, int letter, bool optional) {
  int result = letter;
  if (*rest_ != '\0') {
    optarg = rest_;
    ++optind;
  } else if (optional) {
    optarg = nullptr;
  } else if (optind == request.argc) {
    report_option(request, "option requires an argument -- '%c'", letter);
    refused_ = letter;
    result = request.missing();
  } else {
    optarg = request.argv[optind++];
  }
  rest_ = nullptr;
  return result;
}

/// "-W name" means "--name" if the option string has "W;".
int OptionScan::w_option(const OptionRequest& request) {
  if (*rest_ == '\0') {
    if (optind == request.argc) {
      report_option(request, "option requires an argument -- '%c'", 'W');
      refused_ = 'W';
      return request.missing();
    }
    rest_ = request.argv[optind];
  }
  return long_option(request, false, "-W ");
}

namespace {

int next_option(int argc, char* const* argv, const char* letters, const struct option* long_options,
                int* index, bool long_only, bool posix = false) {
  return scan.next({argc, const_cast<char**>(argv), letters, long_options, index, long_only, false}, posix);
}

}  // namespace

extern "C" {

int getopt(int argc, char* const* argv, const char* letters) noexcept {
  return next_option(argc, argv, letters, nullptr, nullptr, false);
}

// What <unistd.h> calls getopt for a program that asks for POSIX only.
int __posix_getopt(int argc, char* const* argv, const char* letters) {
  return next_option(argc, argv, letters, nullptr, nullptr, false, true);
}

int getopt_long(int argc, char* const* argv, const char* letters, const struct option* options,
                int* index) noexcept {
  return next_option(argc, argv, letters, options, index, false);
}

int getopt_long_only(int argc, char* const* argv, const char* letters, const struct option* options,
                     int* index) noexcept {
  return next_option(argc, argv, letters, options, index, true);
}

}  // extern "C"

}  // namespace tmpi::shim
