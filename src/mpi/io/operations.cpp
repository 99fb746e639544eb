#include "mpi/io/operations.hpp"

#include <string>
#include <utility>

#include "mpi/base/check.hpp"
#include "mpi/base/status.hpp"
#include "mpi/coll/nonblocking.hpp"
#include "mpi/datatype/check.hpp"
#include "mpi/io/collective.hpp"
#include "mpi/io/shared_pointer.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/request/blocked.hpp"
#include "sched/helper.hpp"

namespace tmpi::mpi {

/// What is under way between the two halves.
class SplitCollective {
 public:
  FileCall call{};
  MPI_Request request = MPI_REQUEST_NULL;
};

namespace {

Err check_direction(const File& file, Transfer transfer) {
  if (transfer == Transfer::kWrite && !file.writable())
    return fail(MPI_ERR_READ_ONLY, "{} was opened with MPI_MODE_RDONLY", file.path());
  if (transfer == Transfer::kRead && !file.readable())
    return fail(MPI_ERR_ACCESS, "{} was opened with MPI_MODE_WRONLY", file.path());
  return kOk;
}

// A call as it is carried out: the data, and where they begin.
class Movement {
 public:
  Movement(File& file, const FileCall& call) : file_(file), call_(call), manner_{file.hints, file.atomic} {}

  Err check() {
    TMPI_TRY(check_direction(file_, call_.transfer));
    if (file_.sequential() && call_.pointer != Pointer::kShared)
      return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                  "{} was opened with MPI_MODE_SEQUENTIAL: only the shared file pointer can be used",
                  file_.path());
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(call_.buffer, call_.count, call_.type, type));
    if (call_.pointer == Pointer::kExplicit && call_.offset < 0)
      return fail(MPI_ERR_ARG, "offset is {}: it must not be negative", call_.offset);
    view_ = file_.view;
    TMPI_TRY(data_.prepare(call_.transfer, view_, call_.buffer, call_.count, *type));
    if (data_.bytes() == 0 || !view_->empty()) return kOk;
    return fail(MPI_ERR_ARG, "{} bytes are asked for, but the view shows nothing: its filetype has no data",
                data_.bytes());
  }

  /// How far it moves a pointer.
  MPI_Offset etypes() const noexcept { return view_ != nullptr ? data_.bytes() / view_->unit() : 0; }

  /// Begins at `offset`.
  Err place(MPI_Offset offset) {
    MPI_Count end = 0;
    const bool fits = !__builtin_mul_overflow(offset, view_->unit(), &start_) &&
                      !__builtin_add_overflow(start_, data_.bytes(), &end) && view_->reaches(end);
    if (!fits)
      return fail(MPI_ERR_ARG, "{} bytes at offset {} end behind the last offset that a file can have",
                  data_.bytes(), offset);
    return kOk;
  }
  /// Begins where its pointer is, which moves on; not for the shared one.
  Err place() {
    if (call_.pointer == Pointer::kExplicit) return place(call_.offset);
    TMPI_TRY(place(file_.position));
    file_.position += etypes();
    return kOk;
  }
  Err place_by_shared_pointer() {
    MPI_Offset before = 0;
    TMPI_TRY(move_shared_pointer(file_, etypes(), before));
    return place(before);
  }

  Err move_alone() {
    MPI_Count done = 0;
    const Err error = transfer(*file_.node, manner_, data_.access(start_), done);
    const Err converted = data_.finish(done, bytes_);
    return error ? error : converted;
  }
  Err move_together(Comm& comm, Err mine) {
    MPI_Count done = 0;
    const bool usable = view_ != nullptr && !mine;
    TMPI_TRY(transfer_all({comm, *file_.node, manner_, file_.aggregators}, mine,
                          usable ? data_.access(start_) : nothing(), done));
    return data_.finish(done, bytes_);
  }

  const FileCall& call() const noexcept { return call_; }
  File& file() const noexcept { return file_; }
  MPI_Count bytes() const noexcept { return bytes_; }

 private:
  Access nothing() const {
    return {call_.transfer, View::bytes(), 0, 0, Memory(nullptr, 0, *datatype_from(MPI_BYTE))};
  }

  File& file_;
  const FileCall call_;
  const Manner manner_;
  std::shared_ptr<const View> view_;
  UserData data_;
  MPI_Count start_ = 0;
  MPI_Count bytes_ = 0;  // moved, in the user's datatype
};

void report(const Movement& job, MPI_Status* status) noexcept {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, job.bytes());
}

void ended(File& file) noexcept {
  if (--file.under_way == 0 && file.settled != nullptr) std::exchange(file.settled, nullptr)->complete();
}

// In order of ranks, by the shared pointer; who has nothing to bring for its arguments' sake comes all the same.
Err place_in_order(Comm& comm, Movement& job, Err mine) {
  const std::string explanation = mine ? take_explanation() : std::string{};
  MPI_Offset before = 0;
  TMPI_TRY(move_in_order(comm, job.file(), mine ? 0 : job.etypes(), before));
  if (!mine) return job.place(before);
  explain(explanation);
  return mine;
}

// On a helper fiber of the rank.
class AloneOperation final : public RequestExtension {
 public:
  AloneOperation(File& file, const FileCall& call) : job_(file, call) {}
  Movement& job() noexcept { return job_; }

  Err start(Request& request) override {
    request_ = &request;
    ++job_.file().under_way;
    if (!sched::run_helper(&AloneOperation::run, this)) run(this);  // no stack: now
    return kOk;
  }
  Err outcome(Request&, MPI_Status* status) override {
    report(job_, status);
    return error_ ? fail(error_.error_class(), "{}: {}", job_.call().name, explanation_) : kOk;
  }

 private:
  static void run(void* self) noexcept {
    auto& operation = *static_cast<AloneOperation*>(self);
    File& file = operation.job_.file();
    operation.error_ = guarded([&]() -> Err {
      if (operation.job_.call().pointer == Pointer::kShared)
        TMPI_TRY(operation.job_.place_by_shared_pointer());
      return operation.job_.move_alone();
    });
    if (operation.error_) operation.explanation_ = take_explanation();
    operation.request_->complete();
    ended(file);
  }

  Movement job_;
  Request* request_ = nullptr;
  Err error_;
  std::string explanation_;
};

// On a shadow of the file's communicator.
class TogetherOperation final : public ShadowOperation {
 public:
  TogetherOperation(File& file, const FileCall& call)
      : ShadowOperation(call.name, shadows_of(*file.comm).next()), job_(file, call) {}

  // `mine`: what is wrong already. An error of the arguments is told when the others have heard of it.
  void place(Err mine) {
    mine_ = mine ? mine : job_.check();
    if (!mine_ && job_.call().pointer != Pointer::kShared) mine_ = job_.place();
    if (mine_) explanation_ = take_explanation();
  }
  // It is under way from the moment that it is certain to end, also where there is no helper fiber for it.
  Err start(Request& request) override {
    ++job_.file().under_way;
    const Err error = ShadowOperation::start(request);
    if (request.done() && !performed_) ended(job_.file());
    return error;
  }
  Err outcome(Request& request, MPI_Status* status) override {
    const Err error = ShadowOperation::outcome(request, status);
    report(job_, status);
    return error;
  }

 private:
  Err perform(Comm& shadow) override {
    performed_ = true;
    Err mine = mine_;
    if (mine) explain(explanation_);
    if (job_.call().pointer == Pointer::kShared) mine = place_in_order(shadow, job_, mine);
    const Err error = job_.move_together(shadow, mine);
    ended(job_.file());
    return error;
  }

  Movement job_;
  Err mine_;
  std::string explanation_;
  bool performed_ = false;
};

Err check_no_split(const File& file) {
  if (file.split == nullptr) return kOk;
  return fail(MPI_ERR_OTHER,
              "{} has been begun with this file and not ended: other collective calls have to wait",
              file.split->call.name);
}

}  // namespace

Err move_alone(File& file, const FileCall& call, MPI_Status* status) {
  Movement job(file, call);
  TMPI_TRY(job.check());
  TMPI_TRY(call.pointer == Pointer::kShared ? job.place_by_shared_pointer() : job.place());
  const Err error = job.move_alone();
  report(job, status);
  return error;
}

Err start_alone(File& file, const FileCall& call, MPI_Request* request) {
  auto operation = std::make_unique<AloneOperation>(file, call);
  AloneOperation& started = *operation;
  TMPI_TRY(started.job().check());
  if (call.pointer != Pointer::kShared) TMPI_TRY(started.job().place());
  Request& created = create_request(file.comm, std::move(operation), false);
  *request = handle_of(created);
  return started.start(created);
}

Err move_together(File& file, const FileCall& call, MPI_Status* status) {
  TMPI_TRY(check_no_split(file));
  Movement job(file, call);
  Err mine = job.check();
  if (call.pointer == Pointer::kShared) {
    mine = place_in_order(*file.comm, job, mine);
  } else if (!mine) {
    mine = job.place();
  }
  const Err error = job.move_together(*file.comm, mine);
  report(job, status);
  return error;
}

Err start_together(File& file, const FileCall& call, MPI_Request* request) {
  TMPI_TRY(check_no_split(file));
  auto operation = std::make_unique<TogetherOperation>(file, call);
  TogetherOperation& started = *operation;
  started.place(check_pointer(request, "request"));
  Request& created = create_request(file.comm, std::move(operation), false);
  MPI_Request handle = handle_of(created);
  const Err error = started.start(created);
  if (request == nullptr) {
    TMPI_TRY(free_request(handle, created));
    return null_pointer("request");
  }
  *request = handle;
  return error;
}

Err begin_split(File& file, const FileCall& call) {
  TMPI_TRY(check_no_split(file));
  auto split = std::make_unique<SplitCollective>();
  split->call = call;
  TMPI_TRY(start_together(file, call, &split->request));
  file.split = std::move(split);
  return kOk;
}

Err end_split(File& file, const FileCall& call, MPI_Status* status) {
  if (file.split == nullptr)
    return fail(MPI_ERR_OTHER, "no split collective operation has been begun with this file");
  const FileCall& begun = file.split->call;
  if (begun.transfer != call.transfer || begun.pointer != call.pointer)
    return fail(MPI_ERR_OTHER, "the split collective operation that has been begun with this file is {}",
                begun.name);
  if (begun.buffer != call.buffer)
    return fail(MPI_ERR_BUFFER, "the buffer is not the one that {} was given", begun.name);
  const auto split = std::move(file.split);
  Request* request = nullptr;
  TMPI_TRY(request_from(split->request, request));
  wait(*request);
  return conclude(split->request, *request, status);
}

void settle(File& file) noexcept {
  if (file.under_way == 0) return;
  sched::Waiter waiter(1);
  file.settled = &waiter;
  wait_for_started(waiter);
}

}  // namespace tmpi::mpi
