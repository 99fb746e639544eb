#include "mpi/p2p/way.hpp"

#include <fmt/core.h>

namespace tmpi::mpi {
namespace {

std::string in_words(MPI_Count bytes) {
  if (bytes == WayRow::kAnySize) return "any";
  if (bytes == 0) return "-";
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} B", bytes);
}

std::string_view receiver_of(const WayRow& row) {
  switch (row.places) {
    case WayRow::kBetweenWorkers:
      return "another worker";
    case WayRow::kBetweenNodes:
      return "another process";
    default:
      return "the node process";
  }
}

}  // namespace

std::string describe_ways() {
  std::string text =
      "A message goes the first way that takes it (scattered: its data lie in pieces of less than 256 bytes "
      "on "
      "average):\n\n";
  const auto line = [&](std::string_view name, std::string_view receiver, std::string_view most,
                        std::string_view scattered, std::string_view synchronous, std::string_view what) {
    text += fmt::format("    {:<12}{:<18}{:<8}{:<11}{:<11}{}\n", name, receiver, most, scattered, synchronous,
                        what);
  };
  line("way", "to a rank of", "up to", "scattered", "MPI_Ssend", "how");
  for (const WayRow& row : kWays)
    line(row.name, receiver_of(row), in_words(row.most), in_words(row.most_scattered),
         row.synchronous ? "yes" : "no", row.what);
  text += "\nWhat is copied from the buffer of a rank to that of a rank of another worker is copied\n\n";
  for (const CopyRow& row : kCopies)
    text += fmt::format("    {:<30}{}\n",
                        row.most == WayRow::kAnySize ? std::string("else") : "up to " + in_words(row.most),
                        row.what);
  return text;
}

}  // namespace tmpi::mpi
