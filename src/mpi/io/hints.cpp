#include "mpi/io/hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

namespace tmpi::mpi {
namespace {

struct Number {
  const char* key;
  MPI_Count Hints::*member;
  MPI_Count least;
};
constexpr std::array kNumbers = {
    Number{"cb_buffer_size", &Hints::cb_buffer_size, 4096},
    Number{"cb_nodes", &Hints::cb_nodes, 1},
    Number{"ind_rd_buffer_size", &Hints::ind_rd_buffer_size, 4096},
    Number{"ind_wr_buffer_size", &Hints::ind_wr_buffer_size, 4096},
};

// Those of a file that is made, where the file system takes them.
struct Layout {
  const char* key;
  MPI_Count Striping::*member;
  MPI_Count least;
};
constexpr std::array kLayout = {
    Layout{"striping_factor", &Striping::factor, 1},
    Layout{"striping_unit", &Striping::unit, 1},
    Layout{"start_iodevice", &Striping::first, 0},
};

struct Switch {
  const char* key;
  Choice Hints::*member;
};
constexpr std::array kSwitches = {
    Switch{"romio_cb_read", &Hints::cb_read},
    Switch{"romio_cb_write", &Hints::cb_write},
    Switch{"romio_ds_read", &Hints::ds_read},
    Switch{"romio_ds_write", &Hints::ds_write},
};

constexpr std::array kChoices = {"automatic", "enable", "disable"};  // in the order of Choice
constexpr MPI_Count kMost = std::numeric_limits<int>::max();

// The number that the hint says, if it says one of at least `least`.
std::optional<MPI_Count> number_of(const Info& info, const char* key, MPI_Count least) {
  const std::string* text = info.find(key);
  if (text == nullptr) return {};
  MPI_Count value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < least) return {};
  return value;
}

}  // namespace

void take_hints(Hints& hints, const Info& info) {
  for (const Number& row : kNumbers) {
    if (const auto value = number_of(info, row.key, 1))
      hints.*row.member = std::clamp(*value, row.least, kMost);
  }
  for (const Layout& row : kLayout) {
    if (const auto value = number_of(info, row.key, row.least)) hints.striping.*row.member = *value;
  }
  for (const Switch& row : kSwitches) {
    const std::string* text = info.find(row.key);
    if (text == nullptr) continue;
    const auto* found = std::find(kChoices.begin(), kChoices.end(), *text);
    if (found != kChoices.end()) hints.*row.member = static_cast<Choice>(found - kChoices.begin());
  }
}

std::vector<Info::Entry> entries_of(const Hints& hints, int aggregators) {
  std::vector<Info::Entry> entries;
  for (const Number& row : kNumbers) {
    const bool nodes = row.member == &Hints::cb_nodes;
    entries.emplace_back(row.key, std::to_string(nodes ? aggregators : hints.*row.member));
  }
  for (const Layout& row : kLayout) {
    if (hints.striping.*row.member >= row.least)
      entries.emplace_back(row.key, std::to_string(hints.striping.*row.member));
  }
  for (const Switch& row : kSwitches)
    entries.emplace_back(row.key, kChoices[static_cast<std::size_t>(hints.*row.member)]);
  return entries;
}

}  // namespace tmpi::mpi
