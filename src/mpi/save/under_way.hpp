// Messages under way when ranks are saved: their data is brought to who is to receive them, so that whoever has sent them is
// done; what is left - receives that are posted, messages that nobody has asked for yet, requests that are done or inactive -
// is one rank's alone, and saved with it.
#pragma once

#include <string>

#include "mpi/comm/packing.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

// In this order, by all ranks, with others' agreement after each; every message is at its receiver's. What cannot be done is
// the end of a sentence that begins with the rank; empty: nothing.

/// The rank waits for somebody to receive what it has sent; that cannot be put off.
std::string why_not_brought(Rank& rank);
/// Data of messages to this rank that nobody has received comes here, and what it has done at windows is done. SUSPENDS.
std::string bring_messages(Rank& rank);
/// What the rank has sent, and receives that have found their message, are done. SUSPENDS.
void finish_matched(Rank& rank);

/// Requests of the rank that cannot be saved, as the end of such a sentence.
std::string why_not_requests(const Rank& rank);
/// How many it has at this communicator.
int requests_at(const Rank& rank, const Comm& comm) noexcept;

/// When all of that has been done.
void save_messages(Packer& to, Rank& rank);
void save_requests(Packer& to, Rank& rank);
/// Behind the objects that they refer to.
Err take_messages(Unpacker& from, Rank& rank);
void take_requests(Unpacker& from, Rank& rank);

}  // namespace tmpi::mpi
