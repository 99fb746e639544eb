#include "mpi/coll/nonblocking.hpp"

#include <utility>

#include "mpi/coll/coll.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/status.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "sched/service.hpp"

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

class CollectiveOperation final : public TrackOperation {
 public:
  CollectiveOperation(const char* name, Track& track, const Args& args)
      : TrackOperation(name, track), args_(args) {
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
    return run(comm, args_);
  }

  Args args_;
  std::unique_ptr<Track> dedicated_;  // of a persistent operation
};

// While a track is served, its communicator stays, whoever frees it, and MPI_Finalize waits.
void begin_service(Track& track) noexcept {
  track.served = true;
  ++track.parent.references;
  ++track.parent.owner->services;
}

void end_service(Track& track) noexcept {
  track.served = false;
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
  next_ = nullptr;
  (track_.last != nullptr ? track_.last->next_ : track_.first) = this;
  track_.last = this;
  if (track_.served) return kOk;
  begin_service(track_);
  if (sched::run_service(serve, &track_)) return kOk;
  track_.first = track_.last = nullptr;
  remember(fail(MPI_ERR_NO_MEM,
                "there is no memory for the stack of another operation in progress: wait for some first, or "
                "pass tmpirun a smaller --stack-size"));
  end_service(track_);
  request.complete();
  return kOk;
}

void TrackOperation::serve(void* argument) noexcept {
  Track& track = *static_cast<Track*>(argument);
  while (TrackOperation* operation = track.first) {
    track.first = operation->next_;
    if (track.first == nullptr) track.last = nullptr;
    if (Err error = operation->perform(track.comm)) operation->remember(error);
    operation->request_->complete();
  }
  end_service(track);
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
