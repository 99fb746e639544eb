#include "mpi/io/hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
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

}  // namespace

void take_hints(Hints& hints, const Info& info) {
  for (const Number& row : kNumbers) {
    const std::string* text = info.find(row.key);
    if (text == nullptr) continue;
    MPI_Count value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc{} || end != text->data() + text->size() || value <= 0) continue;
    hints.*row.member = std::clamp(value, row.least, kMost);
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
  for (const Switch& row : kSwitches)
    entries.emplace_back(row.key, kChoices[static_cast<std::size_t>(hints.*row.member)]);
  return entries;
}

}  // namespace tmpi::mpi
