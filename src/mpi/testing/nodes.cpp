#include "mpi/testing/nodes.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/init/lifetime.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/rank/callbacks.hpp"
#include "net/proof.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi::testing {
namespace {

// Of a node process: a check has failed.
std::atomic<bool> failed{false};

struct Listener : doctest::IReporter {
  explicit Listener(const doctest::ContextOptions&) {}
  void log_assert(const doctest::AssertData& data) override {
    if (data.m_failed) failed = true;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override { failed = true; }
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("nodes", 1, Listener);

const std::function<void(Rank&)>* the_body;

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "node process %d: %s\n", static_cast<int>(getpid()), why.c_str());
  _exit(3);
}

void abort_job(Rank&, int code, std::string_view text) {
  die("the job was aborted with code " + std::to_string(code) + ": " + std::string(text));
}

void lost(int node, const std::string& why) noexcept {
  die("node " + std::to_string(node) + " is lost: " + why);
}

void rank_main(void* argument) {
  Rank& rank = *static_cast<Rank*>(argument);
  if (initialize(rank, MPI_THREAD_SINGLE)) std::abort();
  (*the_body)(rank);
  if (finalize(rank)) std::abort();
}

// A line of text through the socket.
void write_line(int fd, const std::string& text) {
  const std::string line = text + "\n";
  if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(4);
}
std::string read_line(int fd) {
  std::string line;
  for (char c = 0; read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

std::vector<int> map(const NodesOptions& options) {
  std::vector<int> node_of;
  const int per_node = (options.ranks + options.nodes - 1) / options.nodes;
  for (int rank = 0; rank < options.ranks; ++rank)
    node_of.push_back(options.cyclic ? rank % options.nodes : rank / per_node);
  return node_of;
}

std::unique_ptr<sched::Scheduler> make_scheduler(const NodesOptions& options) {
  sched::Options sched_options;
  sched_options.workers = options.workers;
  sched_options.tasks = options.ranks;
  sched_options.bind = false;
  sched_options.progress = options.progress;
  auto scheduler = sched::Scheduler::create(sched_options);
  if (!scheduler) die(scheduler.message());
  return std::move(*scheduler);
}

[[noreturn]] void node_process(const NodesOptions& options, const net::Options& net_options, int wire) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  register_callbacks({.abort_job = abort_job});
  auto scheduler = make_scheduler(options);
  Job& job = Job::create(
      Placement(map(options), std::vector<std::string>(static_cast<std::size_t>(options.nodes), "localhost"),
                net_options.node));
  if (const auto begun = remote::begin_with(net_options, options.settings, options.make); !begun)
    die(begun.message());
  remote::on_lost(options.lost != nullptr ? options.lost : lost);
  write_line(wire, remote::address());
  std::vector<net::Peer> peers;
  for (int node = 0; node < options.nodes; ++node) peers.push_back({read_line(wire), "localhost"});
  if (const auto connected = remote::connect(std::move(peers)); !connected) die(connected.message());
  connect_workers(*scheduler);
  scheduler->set_event_source({remote::poll, remote::arm, &remote::expected()});
  const int local = job.local_count();
  const int per_worker = (local + options.workers - 1) / options.workers;
  for (int i = 0; i < local; ++i) {
    Rank& rank = job.local_at(i);
    rank.task = &scheduler->spawn(i / per_worker, rank_main, &rank, &rank);
  }
  scheduler->run();
  if (options.finally != nullptr) options.finally();
  write_line(wire, "done");
  // Others may need this node until they have finished too.
  for (pollfd goodbye{wire, POLLIN, 0}; ::poll(&goodbye, 1, 0) == 0;) (void)remote::poll();
  const bool ended = remote::end(options.seconds);
  std::fflush(nullptr);
  _exit(failed ? 1 : ended ? 0 : 2);
}

struct Child {
  pid_t pid;
  int wire;
};

// Waits for all children; true if all have ended well in time.
bool wait_for_all(const std::vector<Child>& children, int seconds) {
  bool fine = true;
  std::size_t left = children.size();
  for (int i = 0; left > 0; ++i) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      --left;
      if (WIFSIGNALED(status)) MESSAGE("a node process was ended by signal ", WTERMSIG(status));
      const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      if (!good && fine) MESSAGE("a node process has failed: status ", status);
      if (!good && fine) {
        for (const Child& child : children) kill(child.pid, SIGKILL);
      }
      fine &= good;
      continue;
    }
    if (i > seconds * 1000) {
      MESSAGE("the node processes are not done after ", seconds, " s");
      for (const Child& child : children) kill(child.pid, SIGKILL);
      fine = false;
      seconds += 1000;
    }
    usleep(1000);
  }
  return fine;
}

}  // namespace

void run_nodes(const NodesOptions& options, const std::function<void(Rank&)>& body) {
  the_body = &body;
  net::Options net_options;
  net_options.spec = options.net;
  net_options.nodes = options.nodes;
  REQUIRE(net::prepare_proofs());
  net_options.secret = *net::Secret::draw();
  static std::uint64_t job = static_cast<std::uint64_t>(getpid()) << 20;
  net_options.job = ++job;
  std::fflush(nullptr);
  std::vector<Child> children;
  for (int node = 0; node < options.nodes; ++node) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    net_options.node = node;
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      for (const Child& child : children) close(child.wire);
      close(ends[0]);
      node_process(options, net_options, ends[1]);
    }
    close(ends[1]);
    children.push_back({pid, ends[0]});
  }
  signal(SIGPIPE, SIG_IGN);
  std::string addresses;
  for (const Child& child : children) addresses += read_line(child.wire) + "\n";
  for (const Child& child : children) (void)!write(child.wire, addresses.data(), addresses.size());
  // A thread for the goodbye is not worth it: each node closes its end when it dies, so reading never hangs
  // longer than the node lives, and that is limited below.
  const pid_t goodbye = fork();
  if (goodbye == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const Child& child : children) (void)read_line(child.wire);
    for (const Child& child : children) (void)!write(child.wire, "end\n", 4);
    _exit(0);
  }
  for (const Child& child : children) close(child.wire);
  children.push_back({goodbye, -1});
  CHECK(wait_for_all(children, options.seconds));
}

}  // namespace tmpi::mpi::testing
