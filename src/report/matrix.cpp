#include "report/matrix.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

namespace tmpi::report {
namespace {

using observe::Profile;

constexpr std::size_t kMostSquares = 40000;  // some 15 bytes each in the page

struct Sum {
  std::uint64_t messages = 0, bytes = 0;
};
using Squares = std::map<std::pair<int, int>, Sum>;

// Stops where there are more than kMostSquares.
template <class ItemOf>
Squares squares_of(const Profile& profile, ItemOf item_of) {
  Squares squares;
  for (const observe::ProfiledRank& rank : profile.ranks) {
    const observe::ProfiledTraffic& traffic = rank.traffic;
    for (std::size_t i = 0; i < traffic.peers.size(); ++i) {
      Sum& sum = squares[{item_of(rank.rank), item_of(traffic.peers[i])}];
      sum.messages += traffic.sent.messages[i];
      sum.bytes += traffic.sent.bytes[i];
    }
    if (squares.size() > kMostSquares) break;
  }
  return squares;
}

Matrix matrix_of(const Squares& squares, int items, int block) {
  Matrix matrix{.items = items, .block = block, .from = {}, .to = {}, .sent = {}};
  for (const auto& [pair, sum] : squares) {
    matrix.from.push_back(pair.first);
    matrix.to.push_back(pair.second);
    matrix.sent.messages.push_back(sum.messages);
    matrix.sent.bytes.push_back(sum.bytes);
  }
  return matrix;
}

// Of "node 3 worker 0: core 1"; a job of one node process has no numbers.
int node_of(std::string_view worker) {
  constexpr std::string_view kNode = "node ";
  return worker.starts_with(kNode) ? std::atoi(std::string(worker.substr(kNode.size())).c_str()) : 0;
}

int number_of_ranks(const Profile& profile) {
  int most = -1;
  for (const observe::ProfiledRank& rank : profile.ranks) {
    most = std::max(most, rank.rank);
    for (const int peer : rank.traffic.peers) most = std::max(most, peer);
  }
  return most + 1;
}

}  // namespace

Matrix matrix_of_ranks(const Profile& profile) {
  for (int block = 1;; block *= 2) {
    const Squares squares = squares_of(profile, [block](int rank) { return rank / block; });
    if (squares.size() <= kMostSquares) return matrix_of(squares, number_of_ranks(profile), block);
  }
}

Matrix matrix_of_nodes(const Profile& profile) {
  std::vector<int> nodes(static_cast<std::size_t>(number_of_ranks(profile)));
  int most = 0;
  for (const observe::ProfiledRank& rank : profile.ranks) {
    const int node = node_of(profile.workers[static_cast<std::size_t>(rank.worker)].name);
    nodes[static_cast<std::size_t>(rank.rank)] = node;
    most = std::max(most, node);
  }
  const Squares squares =
      squares_of(profile, [&](int rank) { return nodes[static_cast<std::size_t>(rank)]; });
  return matrix_of(squares, most + 1, 1);
}

}  // namespace tmpi::report
