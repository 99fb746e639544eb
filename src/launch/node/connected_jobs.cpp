#include "launch/node/connected_jobs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "launch/control/control.hpp"
#include "launch/neighbours/link_messages.hpp"
#include "launch/node/deadlock_watch.hpp"
#include "launch/system/no_memory.hpp"
#include "mpi/base/other_jobs.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/remote/remote.hpp"

namespace tmpi::launch {
namespace {

constexpr std::chrono::milliseconds kDisconnecting{100};

const NodeSpec* the_node = nullptr;

void answer(FrameType type, const WayAnswer& answer) {
  Control::instance()->send(type, -1, 0, pack(answer));
}

Result<std::string> prepare(const WayOrder& order) {
  if (!mpi::remote::takes_other_jobs())
    return Failure{
        "has a program that does not refer to MPI_Comm_accept or MPI_Comm_connect itself; if a library of it "
        "does, start it with tmpirun --other-jobs"};
  const mpi::OtherJob* const other = mpi::other_jobs().add(order.index, order.other_job, order.other_name,
                                                           the_node->nodes(), order.other_nodes);
  if (other == nullptr)
    return Failure{
        fmt::format("has been connected with {} node processes of other jobs, and cannot be with more",
                    mpi::other_jobs().nodes())};
  net::Options options;
  options.node = order.first + the_node->node;
  options.nodes = the_node->nodes() + order.other_nodes;
  options.job = order.key.job;
  options.secret = order.key.secret;
  Result<std::string> address =
      mpi::remote::prepare_way({other->first_node, order.other_first, order.other_nodes}, options);
  if (!address) return Failure{"cannot be reached: " + address.message()};
  return address;
}

// A problem is said of this job: "has ...".
void on_prepare(const WayOrder& order) {
  Result<std::string> address = prepare(order);
  const std::string problem = address ? "" : address.message();
  answer(FrameType::kWayPrepared, {order.index, address ? *std::move(address) : "", problem});
}

void on_join(const WayAddresses& all) {
  const mpi::OtherJob* const other = mpi::other_jobs().at(all.index);
  std::vector<net::Peer> peers;
  for (std::size_t node = 0; node < all.addresses.size(); ++node)
    peers.push_back({all.addresses[node], all.hosts[node]});
  const Result<void> joined = other != nullptr ? mpi::remote::join_way(other->first_node, std::move(peers))
                                               : Result<void>(Failure{"there is no such job"});
  answer(FrameType::kWayJoined,
         {all.index, "", joined ? "" : "cannot reach the other one: " + joined.message()});
}

// Ranks that have got the other job's last messages just now may be about to have disconnected.
void wait_for_disconnection(const mpi::OtherJob& other) {
  const auto end = std::chrono::steady_clock::now() + kDisconnecting;
  while (other.communicators > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Any thread.
void end_with(const mpi::OtherJob& other) {
  Control::instance()->report_end(
      EndKind::kAborted, -1, 1,
      fmt::format(
          "the job {}, with which this one is connected, {}; this job has been ended, too (ranks that have "
          "called MPI_Comm_disconnect before go on)",
          other.name, other.how_it_ended));
}

// First that this job ends, if it does: when the other one counts as ended, its ranks are waited for in vain, which is a
// deadlock, once what they have sent is here. A rank that has agreed with them on a communicator just now makes it later.
void on_end(const WayEnding& ending) {
  mpi::OtherJob* const other = mpi::other_jobs().at(ending.index);
  if (other == nullptr || other->ended) return;
  mpi::remote::drain_way(other->first_node);
  if (!ending.why.empty()) {
    wait_for_disconnection(*other);
    other->how_it_ended = ending.why;
    other->ended_badly = true;
    if (other->communicators > 0) end_with(*other);
  }
  other->ended = true;
  end_quiescence();
  mpi::remote::part_way(other->first_node);
}

template <class Message>
void pass(const Result<Message>& message, void (*to)(const Message&)) {
  if (message)
    to(*message);
  else
    Control::instance()->report_end(EndKind::kStartFailed, -1, 1, message.message());
}

}  // namespace

void prepare_connected_jobs(const NodeSpec& node) {
  the_node = &node;
  mpi::other_jobs().set_end(&end_with);
}

void on_way_frame(const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::kWayPrepare:
      return pass(unpack_way_order(frame.payload), &on_prepare);
    case FrameType::kWayJoin:
      return pass(unpack_way_addresses(frame.payload), &on_join);
    default:
      return pass(unpack_way_ending(frame.payload), &on_end);
  }
}

void report_lost_job(int node, const std::string& why) noexcept {
  try {
    const mpi::OtherJob* const other = mpi::other_jobs().with_node(node);
    if (other == nullptr || other->ended) return;
    answer(FrameType::kWayLost, {other->index, "", why});
  } catch (const std::exception&) {
    no_memory_for("word of the loss of another job");
  }
}

}  // namespace tmpi::launch
