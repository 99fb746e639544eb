// demangle_words: C++ names in a crash report made readable. Done by tmpirun, because the crashed process
// must not allocate.
#pragma once

#include <string>
#include <string_view>

namespace tmpi::launch {

/// `text` with every word that is a mangled C++ name ("_Z...") replaced by its readable form.
std::string demangle_words(std::string_view text);

}  // namespace tmpi::launch
