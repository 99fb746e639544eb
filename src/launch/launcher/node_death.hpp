// What the end of a node process means: tmpirun's exit code and a sentence, from how its process has ended.
#pragma once

#include <string>

#include "launch/launcher/node.hpp"

namespace tmpi::launch {

/// The exit code of a job that ends because this node process has died.
int code_of_death(const Node& node);

/// It was lost: killed from outside, or its host or the connection to it has failed. Its ranks could go on elsewhere. (Not: it
/// has ended by what its ranks did.)
bool is_lost(const Node& node);

/// What is known beside the node process itself.
struct DeathContext {
  std::string name;          ///< NodeSet::name_of
  std::string ranks;         ///< RankExits::unfinished_on
  std::string launch_agent;  ///< what has started it, on another machine
  std::string executable;    ///< the path of tmpi-node here
};

/// What has happened, the likely cause, and what to do where there is something.
std::string explain_death(const Node& node, const DeathContext& context);

}  // namespace tmpi::launch
