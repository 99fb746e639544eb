#include "privatize/ownership.hpp"

#include <algorithm>

#include "base/path.hpp"
#include "privatize/shared_libraries.hpp"

namespace tmpi::privatize {
namespace {

/// True if the user means this library: its file name, or that up to ".so" or a number of its version.
bool means(std::string_view wanted, std::string_view file) {
  return file.starts_with(wanted) && (file.size() == wanted.size() || file[wanted.size()] == '.');
}

bool chosen(const std::vector<std::string>& names, std::string_view file) {
  return std::ranges::any_of(names, [&](const std::string& name) { return means(name, file); });
}

/// Under the ABI's name, whatever its number, and under those that others give their files for it: libmpi_abi_mpich.so.1,
/// libmpi_abi_openmpi.so.1.
bool is_runtime(std::string_view file) {
  return file.starts_with("libtmpi.so") || file.starts_with("libmpi_abi.so") ||
         file.starts_with("libmpi_abi_");
}

}  // namespace

LibraryOwner library_owner(std::string_view name, const LibraryChoices& choices) {
  const std::string_view file = file_of(name);
  if (is_runtime(file)) return {Ownership::kRuntime, "MPI: the node process itself"};
  if (chosen(choices.own, file)) return {Ownership::kPrivate, "--private-library"};
  if (chosen(choices.shared, file)) return {Ownership::kShared, "--share-library"};
  if (const SharedLibrary* row = shared_library(file)) return {Ownership::kShared, row->why};
  return {Ownership::kPrivate, "a rank's own"};
}

bool is_fortran_runtime(std::string_view name) {
  const std::string_view file = file_of(name);
  return file.starts_with("libtmpifort.so") || file.starts_with("libmpifort_abi");
}

Result<void> check_choices(const LibraryChoices& choices) {
  for (const std::string& name : choices.own) {
    if (is_libcs(name.find(".so") == std::string::npos ? name + ".so." : name + "."))
      return Failure{"--private-library " + name + ": belongs to libc, which all ranks of a process share"};
  }
  for (const std::string& name : choices.shared) {
    if (means("libstdc++", name))
      return Failure{"--share-library " + name +
                     ": has streams, handlers and locales that are a rank's; it cannot be shared"};
  }
  return {};
}

}  // namespace tmpi::privatize
