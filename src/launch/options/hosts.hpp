// Hosts: the machines of a job as users write them: --host a:4,b and host files in the formats of Open MPI
// ("a slots=4") and MPICH ("a:4").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

struct HostSlots {
  std::string host;    ///< for the remote shell: may be "user@host"
  int slots = 1;       ///< its part of the job (mapping.hpp)
  bool given = false;  ///< the user has said how many slots
  bool operator==(const HostSlots& other) const { return host == other.host && slots == other.slots; }
};

/// "a:4,b,[fe80::1]:2". A host that is named again gets more slots. Failure: what is wrong with the list.
Result<std::vector<HostSlots>> parse_host_list(std::string_view list);

/// The text of a host file: a host per line, "slots=N" (also "slots = N") or ":N" behind it; comments begin with #. What else
/// those formats know (max-slots, user=, ifname=, ...) is passed over. Failure: the line and what is wrong.
Result<std::vector<HostSlots>> parse_host_file(std::string_view text);

/// The file's hosts; the path may name a pipe. Failure: also that it cannot be read, is a directory, no text, or
/// larger than any file of hosts.
Result<std::vector<HostSlots>> read_host_file(const std::string& path);

/// "a slots = 4" as "a slots=4".
std::string without_blanks_around_equals(std::string_view line);

/// It is this machine: no remote shell is needed.
bool is_here(std::string_view host);

}  // namespace tmpi::launch
