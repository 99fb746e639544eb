// JobFigures: what cores and ranks of a running job do at one moment, for tmpi-top. Figures rise; rates are between two answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/wire/fields.hpp"

namespace tmpi::launch {

struct WorkerFigures {
  std::int64_t busy = 0;  ///< ns that its thread has had a processor
  int ready = 0;          ///< ranks that wait for their turn
};
void fields(auto& archive, Of<WorkerFigures> auto& worker) {
  archive(worker.busy, worker.ready);
}

/// Of a node process.
struct NodeFigures {
  std::string host;
  std::int64_t pid = 0;
  std::int64_t time = 0;      ///< ns, of a clock that only goes forward
  std::int64_t switches = 0;  ///< of ranks, on all its workers
  std::int64_t memory = 0;    ///< resident bytes
  std::vector<WorkerFigures> workers;
};
void fields(auto& archive, Of<NodeFigures> auto& node) {
  archive(node.host, node.pid, node.time, node.switches, node.memory, node.workers);
}

struct JobFigures {
  std::string program;
  std::vector<NodeFigures> nodes;
  std::string dump;  ///< pack(StateDump): where the ranks are
};
void fields(auto& archive, Of<JobFigures> auto& job) {
  archive(job.program, job.nodes, job.dump);
}

}  // namespace tmpi::launch
