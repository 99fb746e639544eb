#include "mpi/coll/nonblocking.hpp"

#include <utility>

#include "mpi/base/status.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/table.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/shm/lane.hpp"
#include "sched/helper.hpp"

namespace tmpi::mpi {
namespace {

// Calls body(type) for every datatype the arguments name; chunks of one side have one type or one each.
template <class Body>
void for_types(const Args& args, Body&& body) {
  for (const Side* side : {&args.send, &args.recv}) {
    if (side->type != nullptr) body(*side->type);
    for (int i = 0; i < side->chunks; ++i) body(*checked_type(side->types[i]));
  }
}

class CollectiveOperation final : public TrackOperation, private Guest {
 public:
  CollectiveOperation(const char* name, Track& track, const Args& args)
      : TrackOperation(name, track), Guest(end), args_(args) {
    for_types(args_, [](const Datatype& type) { type.retain(); });
    if (args_.op != nullptr) args_.op->retain();
  }
  CollectiveOperation(const char* name, std::unique_ptr<Track> track, const Args& args)
      : CollectiveOperation(name, *track, args) {
    dedicated_ = std::move(track);
  }
  ~CollectiveOperation() override {
    for_types(args_, [](const Datatype& type) { type.release(); });
    if (args_.op != nullptr) args_.op->release();
  }

 private:
  Err perform(Comm& comm) override {
    args_.error = MPI_SUCCESS;
    args_.guest = nullptr;
    return run(comm, args_);
  }

  Begun begin(Comm& comm, Err& error) override {
    if (comm.inter()) return Begun::kNot;
    row_ = select(comm, args_);
    if (row_ == nullptr || row_->begins == nullptr || !row_->begins(comm, args_)) return Begun::kNot;
    const InCollective note(comm);
    args_.error = MPI_SUCCESS;
    args_.guest = this;
    waits = false;
    error = row_->run(comm, args_);
    if (!waits) return Begun::kDone;
    track().guest = this;
    return Begun::kGuest;
  }

  static void end(Guest& guest) noexcept {
    auto& self = static_cast<CollectiveOperation&>(guest);
    self.row_->end(self.track().comm, self.args_);
    self.finish(self.args_.error, kTruncatedChunk);
  }

  Args args_;
  const Algorithm* row_ = nullptr;
  std::unique_ptr<Track> dedicated_;  // of a persistent operation
};

// While a track has something to do, its communicator stays, whoever frees it, and MPI_Finalize waits.
void hold(Track& track) noexcept {
  ++track.parent.references;
  ++track.parent.owner->services;
}

void let_go(Track& track) noexcept {
  Rank& rank = *track.parent.owner;
  release(track.parent);  // may take the track with it
  if (--rank.services == 0 && rank.services_end != nullptr)
    std::exchange(rank.services_end, nullptr)->complete();
}

}  // namespace

Err start_collective(const char* name, Comm& comm, const Args& args, MPI_Request* request) {
  auto operation = std::make_unique<CollectiveOperation>(name, tracks_of(comm).next(), args);
  TrackOperation& started = *operation;
  Request& created = create_request(&comm, std::move(operation), false);
  *request = handle_of(created);
  return started.start(created);
}

Err init_collective(const char* name, Comm& comm, const Args& args, MPI_Request* request) {
  auto operation = std::make_unique<CollectiveOperation>(name, tracks_of(comm).dedicated(), args);
  *request = handle_of(create_request(&comm, std::move(operation), true));
  return kOk;
}

Err TrackOperation::start(Request& request) {
  request_ = &request;
  error_ = MPI_SUCCESS;
  if (track_.served || track_.guest != nullptr) return enqueue(request);
  Err error;
  switch (begin(track_.comm, error)) {
    case Begun::kNot:
      return enqueue(request);
    case Begun::kDone:
      if (error) remember(error);
      request.complete_here();
      return kOk;
    case Begun::kGuest:
      hold(track_);
      return kOk;
  }
  __builtin_unreachable();
}

void TrackOperation::finish(int error, const char* explanation) {
  Track& track = track_;
  error_ = error;
  if (error != MPI_SUCCESS) explanation_ = explanation;
  track.guest = nullptr;
  if (track.after != nullptr) std::exchange(track.after, nullptr)->complete();
  request_->complete_here();
  let_go(track);
}

Err TrackOperation::enqueue(Request& request) {
  next_ = nullptr;
  (track_.last != nullptr ? track_.last->next_ : track_.first) = this;
  track_.last = this;
  if (track_.served) return kOk;
  track_.served = true;
  hold(track_);
  if (sched::run_helper(serve, &track_)) return kOk;
  track_.first = track_.last = nullptr;
  remember(fail(MPI_ERR_NO_MEM,
                "there is no memory for the stack of another operation in progress: wait for some first, or "
                "pass tmpirun a smaller --stack-size"));
  track_.served = false;
  let_go(track_);
  request.complete();
  return kOk;
}

void TrackOperation::serve(void* argument) noexcept {
  Track& track = *static_cast<Track*>(argument);
  if (track.guest != nullptr) {
    sched::Waiter waiter(1);
    track.after = &waiter;
    waiter.wait();
  }
  while (TrackOperation* operation = track.first) {
    track.first = operation->next_;
    if (track.first == nullptr) track.last = nullptr;
    if (Err error = operation->perform(track.comm)) operation->remember(error);
    operation->request_->complete();
  }
  track.served = false;
  let_go(track);
}

// What is found while nobody is in the call that the error belongs to; told by outcome().
void TrackOperation::remember(Err error) {
  error_ = error.error_class();
  explanation_ = take_explanation();
}

Err TrackOperation::outcome(Request&, MPI_Status* status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  return error_ == MPI_SUCCESS ? kOk : fail(error_, "{}: {}", name_, explanation_);
}

Err TrackOperation::cancel(Request&) {
  return fail(MPI_ERR_REQUEST, "the request is that of {}: a collective operation cannot be cancelled",
              name_);
}

void finish_operations(Rank& rank) noexcept {
  if (rank.services == 0) return;
  sched::Waiter waiter(1);
  rank.services_end = &waiter;
  waiter.wait();
}

}  // namespace tmpi::mpi
