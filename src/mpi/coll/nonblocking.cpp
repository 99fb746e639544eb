#include "mpi/coll/nonblocking.hpp"

#include <utility>

#include "mpi/base/no_memory.hpp"
#include "mpi/base/status.hpp"
#include "mpi/coll/array_copies.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/table.hpp"
#include "mpi/coll/wanted.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/shm/arrivals.hpp"
#include "sched/helper.hpp"

namespace tmpi::mpi {
namespace {

// Calls body(type) for every datatype the arguments name; chunks of one side have one type or one each.
template <class Body>
void for_types(const Args& args, Body&& body) {
  for (const Side* side : {&args.send, &args.recv}) {
    if (side->type != nullptr) body(*side->type);
    for (int i = 0; side->types != nullptr && i < side->chunks; ++i) body(*checked_type(side->types[i]));
  }
}

class CollectiveOperation final : public ShadowOperation, private WaitingContinuation {
 public:
  CollectiveOperation(const char* name, ShadowComm& shadow, const Args& args)
      : ShadowOperation(name, shadow), args_(args), arrays_(args_) {
    for_types(args_, [](const Datatype& type) { type.retain(); });
    if (args_.op != nullptr) args_.op->retain();
  }
  CollectiveOperation(const char* name, std::unique_ptr<ShadowComm> shadow, const Args& args)
      : CollectiveOperation(name, *shadow, args) {
    dedicated_ = std::move(shadow);
  }
  ~CollectiveOperation() override {
    for_types(args_, [](const Datatype& type) { type.release(); });
    if (args_.op != nullptr) args_.op->release();
  }

 private:
  Err perform(Comm& comm) override {
    args_.error = MPI_SUCCESS;
    follow_choices(comm);
    return run(comm, args_);
  }

  bool calls_user() const noexcept override { return args_.op != nullptr && !args_.op->predefined(); }

  Started begin(Comm& comm) override {
    if (comm.inter()) return Started::kNot;
    follow_choices(comm);
    const Algorithm* algorithm = select(comm, args_);
    if (algorithm == nullptr || algorithm->forms.start == nullptr) return Started::kNot;
    const InCollective note(comm);
    args_.error = MPI_SUCCESS;
    finish_ = algorithm->forms.finish;
    Call call{comm, args_};
    const Started started = algorithm->forms.start(call, *this);
    sequence_ = call.sequence;
    if (started == Started::kDone) set_error(args_.error, truncated_chunk_text());
    return started;
  }

  void proceed() noexcept override {
    Call call{comm(), args_, sequence_};
    finish_(call);
    set_error(args_.error, truncated_chunk_text());
    end();
  }

  Args args_;
  ArrayCopies arrays_;          // of args_
  std::uint64_t sequence_ = 0;  // of the call that is kPending
  void (*finish_)(Call& call) = nullptr;
  std::unique_ptr<ShadowComm> dedicated_;  // of a persistent operation
};

// While a shadow has something to do, its communicator stays, whoever frees it, and MPI_Finalize waits.
void hold(ShadowComm& shadow) noexcept {
  ++shadow.parent.references;
  ++shadow.parent.owner->busy_shadows;
}

void let_go(ShadowComm& shadow) noexcept {
  Rank& rank = *shadow.parent.owner;
  release(shadow.parent);  // may take the shadow with it
  if (--rank.busy_shadows == 0 && rank.shadows_end != nullptr)
    std::exchange(rank.shadows_end, nullptr)->complete();
}

}  // namespace

Err start_collective(const char* name, Comm& comm, const Args& args, MPI_Request* request) {
  auto operation = std::make_unique<CollectiveOperation>(name, shadows_of(comm).next(), args);
  ShadowOperation& started = *operation;
  Request& created = create_request(&comm, std::move(operation), false);
  *request = handle_of(created);
  return started.start(created);
}

Err init_collective(const char* name, Comm& comm, const Args& args, MPI_Request* request) {
  auto operation = std::make_unique<CollectiveOperation>(name, shadows_of(comm).dedicated(), args);
  *request = handle_of(create_request(&comm, std::move(operation), true));
  return kOk;
}

Err ShadowOperation::start(Request& request) {
  request_ = &request;
  error_ = MPI_SUCCESS;
  shadow_.parent.owner->nonblocking_call.store(name_, std::memory_order_relaxed);
  if (shadow_.helped || shadow_.continues) return enqueue(request);
  switch (with_memory_for("its part of a collective operation", [&] { return begin(shadow_.comm); })) {
    case Started::kNot:
      return enqueue(request);
    case Started::kDone:
      request.complete_here();
      return kOk;
    case Started::kPending:
      shadow_.continues = true;
      hold(shadow_);
      return kOk;
  }
  __builtin_unreachable();
}

void ShadowOperation::end() noexcept {
  ShadowComm& shadow = shadow_;
  shadow.continues = false;
  if (shadow.after != nullptr) std::exchange(shadow.after, nullptr)->complete();
  request_->complete_here();
  let_go(shadow);
}

void ShadowOperation::set_error(int error_class, const char* explanation) noexcept {
  error_ = error_class;
  literal_ = explanation;
}

Err ShadowOperation::enqueue(Request& request) {
  next_ = nullptr;
  (shadow_.last != nullptr ? shadow_.last->next_ : shadow_.first) = this;
  shadow_.last = this;
  if (shadow_.helped) return kOk;
  shadow_.helped = true;
  hold(shadow_);
  if (sched::run_helper(run_all, &shadow_)) return kOk;
  shadow_.first = shadow_.last = nullptr;
  remember(fail(MPI_ERR_NO_MEM,
                "there is no memory for the stack of another operation in progress: wait for some first, or "
                "pass tmpirun a smaller --stack-size"));
  shadow_.helped = false;
  let_go(shadow_);
  request.complete();
  return kOk;
}

void ShadowOperation::run_all(void* argument) noexcept {
  ShadowComm& shadow = *static_cast<ShadowComm*>(argument);
  if (shadow.continues) {
    sched::Waiter waiter(1);
    shadow.after = &waiter;
    waiter.wait();
  }
  while (ShadowOperation* operation = shadow.first) {
    shadow.first = operation->next_;
    if (shadow.first == nullptr) shadow.last = nullptr;
    sched::stay_on_worker(operation->calls_user());
    with_memory_for("its part of a collective operation", [&] {
      if (Err error = operation->perform(shadow.comm)) operation->remember(error);
    });
    operation->request_->complete();
  }
  shadow.helped = false;
  let_go(shadow);
}

// What is found while nobody is in the call that the error belongs to; told by outcome().
void ShadowOperation::remember(Err error) {
  error_ = error.error_class();
  literal_ = nullptr;
  explanation_ = take_explanation();
}

Err ShadowOperation::outcome(Request&, MPI_Status* status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  if (error_ == MPI_SUCCESS) return kOk;
  return fail(error_, "{}: {}", name_, literal_ != nullptr ? literal_ : explanation_.c_str());
}

Err ShadowOperation::cancel(Request&) {
  return fail(MPI_ERR_REQUEST, "the request is that of {}: a collective operation cannot be cancelled",
              name_);
}

void finish_operations(Rank& rank) noexcept {
  if (rank.busy_shadows == 0) return;
  sched::Waiter waiter(1);
  rank.shadows_end = &waiter;
  wait_for_started(waiter);
}

}  // namespace tmpi::mpi
