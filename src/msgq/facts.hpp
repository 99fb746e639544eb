// Facts: offsets and values in the node process by name, as it exports them itself (base/debugger_fact.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "msgq/memory.hpp"

namespace tmpi::msgq {

class Facts {
 public:
  /// Symbols of the arrays, and of where the Job is.
  static constexpr const char* kArrays[] = {"tmpi_facts_of_tasks", "tmpi_facts_of_ranks",
                                            "tmpi_facts_of_queues"};
  static constexpr const char* kJob = "tmpi_debugger_job";

  /// Adds the array that lies there.
  void add(Memory& memory, Address array);
  /// Of an offset: "Rank.task"; of a value: "RequestKind::kSend". Unknown, in a process of another version: 0, and
  /// complete() is false from then on.
  std::int64_t value(const char* name);
  Address operator[](const char* name) { return static_cast<Address>(value(name)); }
  bool complete() const noexcept { return complete_; }
  bool empty() const noexcept { return values_.empty(); }

 private:
  std::unordered_map<std::string, std::int64_t> values_;
  bool complete_ = true;
};

}  // namespace tmpi::msgq
