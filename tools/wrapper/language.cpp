#include "language.hpp"

#include <algorithm>
#include <array>

namespace tmpi::wrapper {
namespace {

constexpr std::array<std::string_view, 1> kCNames{"mpicc"};
constexpr std::array<std::string_view, 1> kCOptions{"-cc="};
constexpr std::array<std::string_view, 3> kCxxNames{"tmpic++", "mpicxx", "mpic++"};
constexpr std::array<std::string_view, 3> kCxxOptions{"-cxx=", "-CC=", "-c++="};

constexpr std::array kLanguages{
    Language{"tmpicc", kCNames, "gcc", "TMPI_CC", kCOptions},
    Language{"tmpicxx", kCxxNames, "g++", "TMPI_CXX", kCxxOptions},
};

}  // namespace

const Language* language_of(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  const auto* found = std::ranges::find_if(kLanguages, [name](const Language& language) {
    return language.wrapper == name || std::ranges::count(language.aliases, name) > 0;
  });
  return found == kLanguages.end() ? nullptr : found;
}

}  // namespace tmpi::wrapper
