#include "arguments.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace tmpi::wrapper {
namespace {

using std::string_view;

// Options of gcc and clang whose argument is the next word, which therefore is no input file.
constexpr std::array kTakesNextWord = std::to_array<string_view>({
    "-o",
    "-x",
    "-I",
    "-L",
    "-D",
    "-U",
    "-A",
    "-B",
    "-F",
    "-G",
    "-J",
    "-T",
    "-V",
    "-b",
    "-e",
    "-h",
    "-u",
    "-z",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-include-pch",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-Xarch_host",
    "-Xarch_device",
    "-mllvm",
    "-aux-info",
    "-arch",
    "-target",
    "-gcc-toolchain",
    "--param",
    "--sysroot",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "-specs",
    "--output",
    "--language",
    "--include-directory",
    "--library-directory",
    "--define-macro",
    "--undefine-macro",
    "--include",
    "--entry",
});

constexpr std::array kStopsBeforeLink = std::to_array<string_view>({
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--compile",
    "--assemble",
    "--preprocess",
    "--precompile",
    "-emit-ast",
    "--analyze",
    "--dependencies",
    "--user-dependencies",
});

// Suffixes of inputs that go to the linker as they are; every other file is compiled.
constexpr std::array kLinkerInputs =
    std::to_array<string_view>({".o", ".a", ".so", ".lo", ".obj", ".ld", ".sa"});
constexpr std::array kAssembler = std::to_array<string_view>({".s", ".S", ".sx", ".asm"});
constexpr std::array kHeaders =
    std::to_array<string_view>({".h", ".H", ".hh", ".hp", ".hxx", ".hpp", ".HPP", ".h++", ".tcc"});

struct Refusal {
  string_view option;
  string_view sentence;
};

constexpr string_view kNoStatic =
    "links a static program, which cannot give each rank its own globals or find libtmpi.so. Leave the "
    "option out; single "
    "libraries may still be linked statically by naming their .a files";
constexpr string_view kNoFixedAddress =
    "links a program for one fixed address, but every rank needs a copy of its data at an address of its "
    "own. Leave the "
    "option out";
constexpr string_view kNoOtherWordSize =
    "asks for another word size, but tmpi is built for 64-bit programs only. Leave the option out";

constexpr std::array kRefusals = std::to_array<Refusal>({
    {"-static-libgfortran",
     "links libgfortran.a, which is compiled for a fixed address. Leave the option out: each rank has its "
     "own units and "
     "state of the shared library"},
    {"-static", kNoStatic},
    {"--static", kNoStatic},
    {"-static-pie", kNoStatic},
    {"-no-pie", kNoFixedAddress},
    {"--no-pie", kNoFixedAddress},
    {"-nopie", kNoFixedAddress},
    {"-m32", kNoOtherWordSize},
    {"-mx32", kNoOtherWordSize},
    {"-m16", kNoOtherWordSize},
    {"-fsplit-stack",
     "makes functions look for their stack limit in a place that ranks do not have. Leave the option out and "
     "give ranks a "
     "larger stack with tmpirun --stack-size"},
});

bool contains(const auto& table, string_view word) {
  return std::ranges::find(table, word) != table.end();
}

// foo.so.1.2 counts as .so
bool is_linker_input(string_view file) {
  const auto slash = file.rfind('/');
  const string_view name = slash == string_view::npos ? file : file.substr(slash + 1);
  if (name.find(".so.") != string_view::npos) return true;
  const auto dot = name.rfind('.');
  return dot == string_view::npos || contains(kLinkerInputs, name.substr(dot));
}

bool has_suffix_of(const auto& suffixes, string_view file) {
  const auto dot = file.rfind('.');
  return dot != string_view::npos && contains(suffixes, file.substr(dot));
}

class Examiner {
 public:
  Result<Arguments> examine(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const string_view word = arguments[i];
      const bool has_next = i + 1 < arguments.size();
      if (contains(kTakesNextWord, word)) {
        if (has_next) see_option(word, arguments[++i]);
      } else if (word == "-l") {
        if (has_next) ++i;
        libraries_ = true;
      } else if (word == "--" && has_next) {
        for (++i; i < arguments.size(); ++i) see_file(arguments[i]);
      } else if (word.size() > 1 && word[0] == '-') {
        see_option(word, {});
      } else {
        see_file(word);
      }
    }
    return judge();
  }

 private:
  void see_option(string_view word, string_view value) {
    if (word == "-Xlinker") return see_linker_option(value);
    if (word.starts_with("-Wl,")) return see_linker_options(word.substr(4));
    if (word.starts_with("-l")) libraries_ = true;
    if (word.starts_with("-x")) language_ = word == "-x" ? value : word.substr(2);
    if (word.starts_with("--language=")) language_ = word.substr(11);
    if (contains(kStopsBeforeLink, word)) compile_only_ = true;
    if (word == "-shared" || word == "--shared") shared_ = true;
    if (word.starts_with("-fsanitize=")) see_sanitizers(word.substr(11));
    see_fast_math(word);
    if (word == "-fPIC" || word == "-fpic") library_code_ = true;
    if (word == "-fPIE" || word == "-fpie" || word == "-fno-PIC" || word == "-fno-pic") library_code_ = false;
    if (word == "-r" || word == "--relocatable") partial_ = true;
    if (word == "-nostdlib" || word == "-nostartfiles" || word == "--no-standard-libraries") bare_ = true;
    const auto* refusal = std::ranges::find(kRefusals, word, &Refusal::option);
    if (refusal != kRefusals.end()) refusal_ = refusal;
  }

  void see_fast_math(string_view word) {
    if (word == "-Ofast" || word == "-ffast-math" || word == "-funsafe-math-optimizations") fast_math_ = true;
    if (word == "-fno-fast-math" || word == "-fno-unsafe-math-optimizations") fast_math_ = false;
    if (word == "-mno-daz-ftz") keeps_denormals_ = true;
  }

  void see_sanitizers(string_view list) {
    while (!list.empty()) {
      const auto comma = list.find(',');
      sanitizers_.emplace_back(list.substr(0, comma));
      list = comma == string_view::npos ? string_view{} : list.substr(comma + 1);
    }
  }

  void see_linker_options(string_view list) {
    while (!list.empty()) {
      const auto comma = list.find(',');
      see_linker_option(list.substr(0, comma));
      list = comma == string_view::npos ? string_view{} : list.substr(comma + 1);
    }
  }

  void see_linker_option(string_view word) {
    if (word == "-shared" || word == "--shared" || word == "-Bshareable") shared_ = true;
    if (word == "-r" || word == "-i" || word == "-Ur" || word == "--relocatable") partial_ = true;
    if (word == "-no-pie" || word == "--no-pie")
      refusal_ = std::ranges::find(kRefusals, word, &Refusal::option);
  }

  void see_file(string_view file) {
    files_ = true;
    const bool by_suffix = language_.empty() || language_ == "none";
    const bool source = !by_suffix || !is_linker_input(file) || file == "-";
    const bool assembler = by_suffix ? has_suffix_of(kAssembler, file) : language_.starts_with("assembler");
    const bool header =
        by_suffix ? has_suffix_of(kHeaders, file) : language_.find("header") != string_view::npos;
    sources_ |= source;
    compiles_ |= source && !assembler;
    only_headers_ &= header;
  }

  Result<Arguments> judge() const {
    Arguments result{.action = Action::kLinkProgram,
                     .has_sources = sources_,
                     .compiles = compiles_,
                     .for_library = library_code_ || shared_,
                     .sanitizers = sanitizers_,
                     .flushes_denormals = fast_math_ && !keeps_denormals_};
    if (!files_ && !libraries_) {
      result.action = Action::kAsk;
    } else if (compile_only_ || (files_ && only_headers_)) {
      result.action = Action::kCompile;
    } else if (partial_) {
      result.action = Action::kLinkPartial;
    } else if (shared_) {
      result.action = Action::kLinkShared;
    } else if (bare_) {
      result.action = Action::kLinkBare;
    } else if (refusal_ != nullptr) {
      return Failure{std::string(refusal_->option) + " " + std::string(refusal_->sentence) + "."};
    }
    return result;
  }

  string_view language_;  // of -x; stays valid as the arguments do
  const Refusal* refusal_ = nullptr;
  std::vector<std::string> sanitizers_;
  bool files_ = false, libraries_ = false, sources_ = false, compiles_ = false, only_headers_ = true;
  bool fast_math_ = false, keeps_denormals_ = false;
  bool compile_only_ = false, shared_ = false, partial_ = false, bare_ = false, library_code_ = false;
};

}  // namespace

Result<Arguments> examine(const std::vector<std::string>& arguments) {
  return Examiner().examine(arguments);
}

}  // namespace tmpi::wrapper
