#include "check/access.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/datatype/check.hpp"
#include "mpi/datatype/message.hpp"

namespace tmpi::check {
namespace {

using mpi::Node;
using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // begin, end

constexpr std::size_t kMostRuns = std::size_t{1} << 16;

std::uint64_t moved(std::uint64_t address, MPI_Count bytes) {
  return address + static_cast<std::uint64_t>(bytes);
}

/// Appends the runs of a node; false if there are too many.
bool collect(const Node& node, std::uint64_t place, Runs& runs) {
  place = moved(place, node.offset);
  if (runs.size() > kMostRuns) return false;
  for (MPI_Count i = 0; i < node.count; ++i) {
    switch (node.form) {
      case Node::Form::kEmpty:
        return true;
      case Node::Form::kRun:
        runs.emplace_back(place, moved(place, node.length));
        return true;
      case Node::Form::kBlocks:
        runs.emplace_back(moved(place, i * node.stride), moved(place, i * node.stride + node.length));
        break;
      case Node::Form::kRuns: {
        const std::uint64_t begin = moved(place, node.runs[i].offset);
        runs.emplace_back(begin, moved(begin, node.runs[i + 1].start - node.runs[i].start));
        break;
      }
      case Node::Form::kLoop:
        if (!collect(*node.child, moved(place, i * node.stride), runs)) return false;
        break;
      case Node::Form::kList:
        if (!collect(*node.parts[i].node, moved(place, node.parts[i].offset), runs)) return false;
        break;
    }
    if (runs.size() > kMostRuns) return false;
  }
  return true;
}

bool runs_of(const Access& access, Runs& runs) {
  if (access.blocks > 0) {
    if (static_cast<std::size_t>(access.blocks) > kMostRuns) return false;
    for (MPI_Count i = 0; i < access.blocks; ++i) {
      const std::uint64_t begin = moved(access.begin, i * access.stride);
      runs.emplace_back(begin, moved(begin, access.length));
    }
    return true;
  }
  const Node node = mpi::repeated(access.count, access.extent, access.layout->root());
  if (!collect(node, access.base, runs)) return false;
  std::ranges::sort(runs);
  return true;
}

bool any_common(const Runs& a, const Runs& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].second <= b[j].first) {
      ++i;
    } else if (b[j].second <= a[i].first) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

MPI_Count floor_quotient(MPI_Count number, MPI_Count divisor) {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}

/// Equal strides: block i of `a` meets block j of `b` if d + (j - i) * stride lies in (-length of b, length
/// of a).
bool blocks_meet(const Access& a, const Access& b, MPI_Count stride) {
  const auto distance = static_cast<MPI_Count>(b.begin - a.begin);
  const MPI_Count least = floor_quotient(-b.length - distance, stride) + 1;
  const MPI_Count most = floor_quotient(a.length - distance - 1, stride);
  return std::max(least, -(a.blocks - 1)) <= std::min(most, b.blocks - 1);
}

}  // namespace

std::optional<Access> make_access(const void* buffer, MPI_Count count, MPI_Datatype handle, bool writes) {
  const mpi::Datatype* type = mpi::datatype_from(handle);
  if (type == nullptr || count <= 0 || type->size() == 0 || buffer == MPI_IN_PLACE) return std::nullopt;
  if (!mpi::countable(count, *type)) return std::nullopt;  // the call says so
  Access access;
  access.writes = writes;
  const auto base = reinterpret_cast<std::uint64_t>(buffer);
  const Node node = mpi::message_node(count, *type);
  if (node.form == Node::Form::kRun || (node.form == Node::Form::kBlocks && node.stride > 0)) {
    access.begin = moved(base, node.offset);
    access.blocks = node.count;
    access.length = node.length;
    access.stride = node.form == Node::Form::kRun ? 0 : node.stride;
    access.end = moved(access.begin, (access.blocks - 1) * access.stride + access.length);
    return access;
  }
  const MPI_Count last = (count - 1) * type->extent();
  access.begin = moved(base, type->true_lb() + std::min<MPI_Count>(last, 0));
  access.end = moved(base, type->true_lb() + type->true_extent() + std::max<MPI_Count>(last, 0));
  access.blocks = 0;
  access.base = base;
  access.count = count;
  access.extent = type->extent();
  access.layout = type->shared_layout();
  return access;
}

bool overlap(const Access& a, const Access& b) {
  if (a.end <= b.begin || b.end <= a.begin) return false;
  if (a.blocks > 0 && b.blocks > 0) {
    if (a.blocks == 1 && b.blocks == 1) return true;
    if (a.blocks == 1) return blocks_meet(a, b, b.stride);
    if (b.blocks == 1 || a.stride == b.stride) return blocks_meet(a, b, a.stride);
  }
  Runs of_a, of_b;
  return runs_of(a, of_a) && runs_of(b, of_b) && any_common(of_a, of_b);
}

}  // namespace tmpi::check
