// Words of a command line as compilers and shells quote them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tmpi::wrapper {

/// Splits `text` at white space; '...', "..." and backslash quote, as in a compiler's response file.
std::vector<std::string> split_words(std::string_view text);

/// `arguments` with every @FILE replaced by the words of that file, files within files too. A file that
/// cannot be read stays as it is (the compiler takes it for an input file and complains).
std::vector<std::string> expand_response_files(const std::vector<std::string>& arguments);

/// `words` as a line that a shell splits into the same words again.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace tmpi::wrapper
