#include "observe/algorithm_tally.hpp"

#include <cctype>
#include <string>

#include "mpi/coll/table.hpp"

namespace tmpi::observe {

int collective_of(std::string_view function) {
  if (!function.starts_with("MPI_")) return -1;
  function.remove_prefix(4);
  if (function.ends_with("_c")) function.remove_suffix(2);
  std::string name;
  for (const char letter : function)
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  for (const std::string_view more : {"", "V", "W", "_BLOCK"}) {
    if (!name.ends_with(more)) continue;
    const std::string_view whole(name.data(), name.size() - more.size());
    for (int i = 0; i < mpi::kCollectives; ++i) {
      if (whole == mpi::name_of(static_cast<mpi::Collective>(i))) return i;
    }
  }
  return -1;
}

}  // namespace tmpi::observe
