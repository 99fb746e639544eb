// Adapters: what the system says of RDMA adapters without opening one (/sys/class/infiniband).
#pragma once

#include <sched.h>

#include <string>
#include <string_view>

namespace tmpi::net::verbs {

inline constexpr const char* kSystemFolder = "/sys/class/infiniband";

/// The NUMA node that the adapter is attached to, -1: unknown, or no hardware at all.
int numa_node_of(std::string_view adapter, const std::string& folder = kSystemFolder);

/// The processors that are near the adapter; none if the system does not say.
cpu_set_t processors_near(std::string_view adapter, const std::string& folder = kSystemFolder);

/// How many of the processors that this process may use are near the adapter; 0 if the system does not say.
int near_processors(std::string_view adapter, const std::string& folder = kSystemFolder);

/// Why `--net auto` does not choose verbs on this machine; empty: there is an adapter with an active port that
/// others can reach, this user may open it, and enough memory may be locked. A clause for -v.
std::string why_not_here(const std::string& folder = kSystemFolder);

/// Bytes that this process may lock (`ulimit -l`); UINT64_MAX: no limit.
unsigned long long lockable_bytes();
/// That as a text: "64 KiB", "unlimited".
std::string lockable_text();

}  // namespace tmpi::net::verbs
