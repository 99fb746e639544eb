// OptionScan: one command line as getopt walks through it. The standard and the GNU manual define the
// behaviour; the fields are the rank's own, so that two ranks may be in the middle of their options.
#pragma once

#include <getopt.h>

namespace tmpi::shim {

/// What a call of the family asks for.
struct OptionRequest {
  int argc;
  char** argv;
  const char* letters;                ///< the option string, without its leading '+' or '-'
  const struct option* long_options;  ///< null: getopt
  int* long_index;
  bool long_only;
  bool report;  ///< messages on stderr

  /// What a missing argument is answered with.
  int missing() const { return letters[0] == ':' ? ':' : '?'; }
  const char* program() const { return argv[0]; }
};

class OptionScan {
 public:
  /// The letters still have their leading '+' or '-'. `posix`: stop at the first operand even without '+'.
  int next(const OptionRequest& request, bool posix) {
    const int result = read(request, posix);
    optopt = refused_;  // as in glibc, what the program stores there does not last
    return result;
  }

 private:
  enum class Order : unsigned char { kPermute, kStopAtOperand, kOperandsAsOptions };
  enum class Step : unsigned char { kOption, kOperand, kEnd };

  int read(OptionRequest request, bool posix);
  void begin(const char* letters, bool posix);
  Step advance(const OptionRequest& request);
  void gather_operands(char** argv);
  int start_argument(const OptionRequest& request);
  int short_option(const OptionRequest& request);
  int short_argument(const OptionRequest& request, int letter, bool optional);
  int w_option(const OptionRequest& request);
  int long_option(const OptionRequest& request, bool long_only, const char* dashes);  // getopt_long.cpp
  int take_long(const OptionRequest& request, const struct option& option, const char* end,
                const char* dashes);

  char* rest_ = nullptr;    ///< of the argument being read: further letters, or a long name
  int operands_begin_ = 0;  ///< operands passed over, just before the next argument
  int operands_end_ = 0;
  Order order_ = Order::kPermute;
  int refused_ = 0;  ///< becomes optopt
  bool begun_ = false;
};

/// Message on stderr, after the program's name and a colon.
void report_option(const OptionRequest& request, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

constexpr int kNotAnOption = -2;  ///< of long_option: with getopt_long_only, to be tried as letters

}  // namespace tmpi::shim
