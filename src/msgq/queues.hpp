// Queues: the pending sends, pending receives and unexpected messages of a communicator of a rank, as a debugger shows them. What a rank has
// started lies in its RequestPool, blocking calls' in the matcher where they wait (docs/design/matching.md).
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "msgq/communicators.hpp"

namespace tmpi::msgq {

class Queues {
 public:
  Queues(Memory& memory, Facts& facts) : memory_(memory), facts_(facts) {}

  /// The process has stopped anew.
  void update(const std::vector<Address>& ranks);
  std::vector<mqs_pending_operation> of(const View& view, mqs_op_class which);

 private:
  struct Key {
    std::uint64_t context = 0;
    int source = 0, tag = 0;
  };
  struct Waiting {  // a message whose data still lie with its sender
    Address message;
    int receiver;  // world rank
  };
  /// A Request, but for what is the same for all of them.
  struct Operation {
    int status = mqs_st_pending;
    int peer = 0, tag = 0;
    std::uint64_t context = 0;
    Address request = 0;              // 0: nothing more is known of it
    bool handle = false;              // the program has one: the request's address
    const char* how = "nonblocking";  // empty: part of a call
  };

  Key key_at(Address key);
  bool belongs(const View& view, std::uint64_t context) const;
  std::vector<Address> active_requests(const View& view, bool sends);
  Operation operation_of(Address request, bool sends);
  mqs_pending_operation shown(const View& view, const GroupView& peers, const Operation& operation,
                              bool send);
  std::vector<mqs_pending_operation> sends(const View& view);
  std::vector<mqs_pending_operation> receives(const View& view);
  std::vector<mqs_pending_operation> unexpected(const View& view);
  std::vector<Address> posted(Address matcher);
  void add_list(Address list, std::vector<Address>& receives);
  std::vector<Address> messages(Address matcher);
  /// What its task says that it waits for, if that is a send or a receive on this communicator.
  bool noted(const View& view, bool send, Operation& operation);

  Memory& memory_;
  Facts& facts_;
  std::map<std::pair<std::uint64_t, int>, std::vector<Waiting>> waiting_;  // by context and source
  std::unordered_map<int, Address> local_;  // ranks of this process by world rank
};

}  // namespace tmpi::msgq
