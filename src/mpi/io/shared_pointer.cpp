#include "mpi/io/shared_pointer.hpp"

#include "mpi/io/together.hpp"
#include "mpi/p2p/p2p.hpp"
#include "sched/helper.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kQuestion = 0;  // tag; answers have the one that the question names
constexpr MPI_Count kTags = 1 << 24;

struct Question {
  MPI_Offset etypes;
  int tag;  // of the answer; kQuestion: there will be no more questions
};

const Datatype& byte_type() noexcept {
  return *checked_type(MPI_BYTE);
}

bool in_process_of_first(const File& file) noexcept {
  return file.node->map->node_of(0) == file.node->map->mine();
}

}  // namespace

/// At rank 0: answers until it is told to stop.
class PointerServer {
 public:
  PointerServer(Comm& comm, std::shared_ptr<NodeFile> node) : comm_(comm), node_(std::move(node)) {}

  bool start() { return sched::run_helper(&PointerServer::serve, this); }
  void stop() noexcept {
    sched::Waiter waiter(1);
    end_ = &waiter;
    const Question last{0, kQuestion};
    // An eager message to oneself, which nothing stands in the way of.
    (void)send(comm_, comm_.context, &last, sizeof last, byte_type(), 0, kQuestion);
    waiter.wait();
  }

 private:
  static void serve(void* self) noexcept {
    auto& server = *static_cast<PointerServer*>(self);
    with_memory_for("the shared pointer of a file", [&] {
      for (;;) {
        Question question{};
        MPI_Status status;
        (void)recv(server.comm_, server.comm_.context, &question, sizeof question, byte_type(),
                   MPI_ANY_SOURCE, kQuestion, &status);
        if (question.tag == kQuestion) break;
        const MPI_Offset before = server.node_->shared_position.fetch_add(question.etypes);
        (void)send(server.comm_, server.comm_.context, &before, sizeof before, byte_type(), status.MPI_SOURCE,
                   question.tag);
      }
    });
    server.end_->complete();
  }

  Comm& comm_;
  const std::shared_ptr<NodeFile> node_;
  sched::Waiter* end_ = nullptr;
};

Err move_shared_pointer(File& file, MPI_Offset etypes, MPI_Offset& before) {
  if (in_process_of_first(file)) {
    before = file.node->shared_position.fetch_add(etypes);
    return kOk;
  }
  Comm& comm = *file.comm;
  const Question question{etypes, static_cast<int>(1 + file.questions++ % kTags)};
  TMPI_TRY(send(comm, comm.context, &question, sizeof question, byte_type(), 0, kQuestion));
  return recv(comm, comm.context, &before, sizeof before, byte_type(), 0, question.tag, MPI_STATUS_IGNORE);
}

Err move_in_order(Comm& comm, File& file, MPI_Offset etypes, MPI_Offset& before) {
  MPI_Count lower = 0, all = 0;
  TMPI_TRY(sums(comm, etypes, lower, all));
  MPI_Offset base = 0;
  if (comm.rank == 0) base = file.node->shared_position.fetch_add(all);
  TMPI_TRY(from_first(comm, &base));
  before = base + lower;
  return kOk;
}

void serve_shared_pointer(File& file) {
  if (file.comm->rank != 0 || file.node->map->nodes() == 1) return;
  auto server = std::make_unique<PointerServer>(*file.comm, file.node);
  if (!server->start()) throw std::bad_alloc();
  file.server = std::move(server);
}

void stop_serving(File& file) noexcept {
  if (file.server == nullptr) return;
  file.server->stop();
  file.server.reset();
}

}  // namespace tmpi::mpi
