#include "language.hpp"

#include <algorithm>
#include <array>

namespace tmpi::wrapper {
namespace {

constexpr std::array<std::string_view, 2> kCNames{"mpicc", "mpicc_abi"};
constexpr std::array<std::string_view, 1> kCOptions{"-cc="};
constexpr std::array<std::string_view, 5> kCxxNames{"tmpic++", "mpicxx", "mpic++", "mpiCC", "mpicxx_abi"};
constexpr std::array<std::string_view, 3> kCxxOptions{"-cxx=", "-CC=", "-c++="};

constexpr std::array<std::string_view, 6> kFortranNames{"mpifort", "mpif90",  "mpif77",
                                                        "tmpif90", "tmpif77", "mpifort_abi"};
constexpr std::array<std::string_view, 3> kFortranOptions{"-fc=", "-f90=", "-f77="};

/// How Debian's alternatives call those of one MPI: mpicc.tmpi.
constexpr std::string_view kAlternative = ".tmpi";

constexpr std::array kLanguages{
    Language{"tmpicc", kCNames, "gcc", "TMPI_CC", kCOptions},
    Language{"tmpicxx", kCxxNames, "g++", "TMPI_CXX", kCxxOptions},
    Language{"tmpifort", kFortranNames, "gfortran", "TMPI_FC", kFortranOptions, true},
};

}  // namespace

const Language* language_of(std::string_view program) {
  std::string_view name = program.substr(program.rfind('/') + 1);
  if (name.ends_with(kAlternative)) name.remove_suffix(kAlternative.size());
  const auto* found = std::ranges::find_if(kLanguages, [name](const Language& language) {
    return language.wrapper == name || std::ranges::count(language.aliases, name) > 0;
  });
  return found == kLanguages.end() ? nullptr : found;
}

}  // namespace tmpi::wrapper
