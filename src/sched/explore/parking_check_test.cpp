// Parking and waking, checked: every order of steps of a few small jobs, on the code that runs in real ones.
// With any of the steps of system.hpp left out, a wake-up has to be found lost.
#include <doctest/doctest.h>

#include <new>

#include "sched/explore/parking_model.hpp"

namespace tmpi::sched::check {
namespace {

bool quick = false;  // what is left outside of inboxes is left by plain stores

template <class S>
Model<S>& job(int workers, bool network) {
  Model<S>& model = *new (memory(sizeof(Model<S>))) Model<S>(workers, network);
  model.shared.quick = quick;
  return model;
}

template <class S, class Run>
void add(const char* name, Model<S>& model, Run) {
  thread(
      name, [](void* argument) { Run()(*static_cast<Model<S>*>(argument)); }, &model);
}

template <int kPart, class S>
bool is_done(void* argument) {
  return static_cast<Model<S>*>(argument)->done[kPart];
}

template <class S>
bool are_both_done(void* argument) {
  return is_done<0, S>(argument) && is_done<1, S>(argument);
}

// Errors need few preemptions; those below are all found with three.
constexpr Limits kFew = {.preemptions = 3};
constexpr int kMany = 4;  // larger jobs have too many orders for all of them

/// Claims about the scenario `set_up` as it is.
Result check_all(void (*set_up)(), const Limits& limits = {}) {
  const Result result = explore(set_up, limits);
  MESSAGE(result.states << " states, " << result.steps << " steps");
  CHECK_MESSAGE(result.ok, result.problem);
  CHECK(result.complete);
  CHECK(result.ends > 0);
  return result;
}

/// The same where who parks has a barrier on all threads.
void check_quick(void (*set_up)(), const Limits& limits = {}) {
  quick = true;
  check_all(set_up, limits);
  quick = false;
}

/// With a step left out, or put wrong, a wake-up is lost.
void check_lost(void (*set_up)()) {
  const Result result = explore(set_up, kFew);
  CHECK_FALSE(result.ok);
  CHECK(result.problem.find("a wake-up is lost") == 0);
}

template <Step... kSteps>
using Without = Checked<((1u << static_cast<int>(kSteps)) | ...)>;

// ---- Wake-ups through the inbox ----

template <class S>
void pushes() {
  Model<S>& model = job<S>(1, false);
  add("worker", model, [](Model<S>& m) {
    for (int i = 0; i < 3; ++i) m.worker(0).wait();
  });
  add("sender 1", model, [](Model<S>& m) {
    m.parkings[0]->push(m.messages[0]);
    m.parkings[0]->push(m.messages[1]);
  });
  add("sender 2", model, [](Model<S>& m) { m.parkings[0]->push(m.messages[2]); });
}

TEST_CASE("what is pushed into the inbox wakes the worker") {
  check_all(&pushes<Checked<>>);
  check_lost(&pushes<Without<Step::kEpochFirst>>);
}

// ---- What is left elsewhere ----

template <class S, std::memory_order kOrder, bool kQuick = false>
void left_elsewhere() {
  Model<S>& model = job<S>(1, false);
  model.shared.quick = kQuick;
  for (int& worker : model.left_for) worker = 0;
  add("worker", model, [](Model<S>& m) {
    for (int i = 0; i < 3; ++i) m.worker(0).wait();
  });
  add("sender 1", model, [](Model<S>& m) { m.leave(0, kOrder); });
  add("sender 2", model, [](Model<S>& m) {
    m.leave(1, kOrder);
    m.parkings[0]->push(m.messages[0]);
  });
}

TEST_CASE("what is left outside of the inbox wakes the worker") {
  check_all(&left_elsewhere<Checked<>, std::memory_order_seq_cst>);
  check_lost(&left_elsewhere<Without<Step::kLookAgain>, std::memory_order_seq_cst>);
  // A store that may pass the load of wake_if_parked(): what Scheduler::wake_if_parked() forbids.
  check_lost(&left_elsewhere<Checked<>, std::memory_order_release>);
  // Unless who parks has a barrier on all threads.
  check_all(&left_elsewhere<Checked<>, std::memory_order_release, true>);
  check_lost(&left_elsewhere<Without<Step::kBarrier>, std::memory_order_release, true>);
}

// ---- The end of the job ----

template <class S>
void end_of_job() {
  Model<S>& model = job<S>(2, false);
  model.ends = true;
  model.messages[0].worker = 1;
  add("worker 0", model, [](Model<S>& m) {
    m.worker(0).make_ready(m.messages[0]);
    m.worker(0).end();
  });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    m.worker(1).end();
  });
}

TEST_CASE("the end of the last task ends all workers") {
  check_all(&end_of_job<Checked<>>);
}

// ---- Watching the network ----

// Worker 0 has its event and computes until worker 1 has had its own.
template <class S>
void two_watch() {
  Model<S>& model = job<S>(2, true);
  model.events[1].worker = 1;
  add("worker 0", model, [](Model<S>& m) {
    m.worker(0).wait();
    m.worker(0).compute_until(&is_done<0, S>);
  });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    m.done[0] = true;
  });
  add("network", model, [](Model<S>& m) {
    m.arrive(0);
    m.arrive(1);
  });
}

// The watcher is woken by a message.
template <class S>
void watcher_is_woken() {
  Model<S>& model = job<S>(1, true);
  add("worker", model, [](Model<S>& m) {
    m.worker(0).wait();
    m.done[0] = true;
    m.worker(0).wait();
  });
  add("sender", model, [](Model<S>& m) { m.parkings[0]->push(m.messages[0]); });
  add("network", model, [](Model<S>& m) {
    await(&is_done<0, S>, &m);
    m.arrive(0);
  });
}

TEST_CASE("what arrives wakes whoever watches, and who goes to work has another one watch") {
  check_all(&two_watch<Checked<>>);
  check_all(&watcher_is_woken<Checked<>>);
  check_lost(&two_watch<Without<Step::kHandOver>>);
  check_lost(&watcher_is_woken<Without<Step::kListenFirst>>);
}

// A progress thread watches while the worker falls asleep, and leaves the source to it.
template <class S>
void progress_watches() {
  Model<S>& model = job<S>(1, true);
  add("worker", model, [](Model<S>& m) {
    m.worker(0).wait();
    m.done[0] = true;
  });
  add("progress thread", model, [](Model<S>& m) {
    if (m.shared.watch.park(m.progress, m.progress.epoch(), 0, true)) Model<S>::Parking::hand_over(m.shared);
  });
  add("network", model, [](Model<S>& m) {
    m.arrive(0);
    await(&is_done<0, S>, &m);
    m.arrive(1);  // for the thread, if it has come late
  });
}

TEST_CASE("a progress thread that has watched has a sleeping worker watch") {
  check_all(&progress_watches<Checked<>>);
  check_lost(&progress_watches<Without<Step::kHandOver>>);
}

// Workers 0 and 1 go to work at the same time, 0 from the watch. 1 may be the one that 0 asks to watch.
template <class S>
void baton() {
  Model<S>& model = job<S>(3, true);
  model.messages[0].worker = 1;
  model.events[2].worker = 2;
  add("worker 0", model, [](Model<S>& m) {
    m.worker(0).wait();
    m.worker(0).compute_until(&is_done<0, S>);
  });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    m.worker(1).compute_until(&is_done<0, S>);
  });
  add("worker 2", model, [](Model<S>& m) {
    m.worker(2).wait();
    m.done[0] = true;
  });
  add("sender", model, [](Model<S>& m) { m.parkings[1]->push(m.messages[0]); });
  add("network", model, [](Model<S>& m) {
    m.arrive(0);
    m.arrive(2);
  });
}

TEST_CASE("who is asked to watch and goes to work instead asks the next one") {
  check_lost(&baton<Without<Step::kPassOn>>);
  check_all(&baton<Checked<>>, {.preemptions = 1});
}

TEST_CASE("who is asked to watch and goes to work instead asks the next one: more orders" *
          doctest::test_suite("long") * doctest::skip()) {
  check_all(&baton<Checked<>>, {.preemptions = kMany});
}

// ---- Tasks that others take ----

// Worker 0 computes until worker 1, which may be parked, has run the task that is left with worker 0; kOwn: that is the
// task which worker 0 itself leaves to compute, and it becomes ready before it has been left.
template <class S, bool kOwn = false>
void task_is_stolen() {
  Model<S>& model = job<S>(2, false);
  model.steals = true;
  model.leaves = kOwn;
  add("worker 0", model,
      [](Model<S>& m) { m.worker(0).compute_open_until(&is_done<0, S>, kOwn ? &m.messages[0] : nullptr); });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    m.done[0] = true;
  });
  add("sender", model, [](Model<S>& m) {
    m.parkings[0]->push(m.messages[0]);
    m.worker(0).invite();
  });
}

// Worker 0 is open for a moment: either of the two runs its task, once, and ends the wait of the other.
template <class S>
void opening_closes() {
  Model<S>& model = job<S>(2, false);
  model.steals = true;
  model.messages[1].worker = 1;
  add("worker 0", model, [](Model<S>& m) {
    m.worker(0).compute_open_until(nullptr);
    m.worker(0).wait();
    if (!m.done[1]) {
      m.done[0] = true;
      m.worker(0).make_ready(m.messages[1]);
    }
  });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    if (!m.done[0]) {
      m.done[1] = true;
      m.worker(1).make_ready(m.messages[2]);
    }
  });
  add("sender", model, [](Model<S>& m) {
    m.parkings[0]->push(m.messages[0]);
    m.worker(0).invite();
  });
}

TEST_CASE("what is left with a worker that computes is run once, by that or by an idle one, which is woken") {
  check_all(&task_is_stolen<Checked<>>);
  check_quick(&task_is_stolen<Checked<>>, kFew);
  check_all(&opening_closes<Checked<>>);
  check_lost(&task_is_stolen<Without<Step::kWakeThief>>);
  check_lost(&task_is_stolen<Without<Step::kJoinFirst>>);
  check_lost(&task_is_stolen<Without<Step::kLookAgain>>);
  CHECK_FALSE(explore(&opening_closes<Without<Step::kOpenStill>>, kFew).ok);
}

// Worker 2 computes until each of the two others, which may be parked, has run one of its tasks: a thief takes one and has
// the other thief come for the rest. kHome: the later one is worker 0's, which takes it before the other.
template <class S, bool kHome = false>
void rest_is_stolen() {
  Model<S>& model = job<S>(3, false);
  model.steals = true;
  model.worth_taking = 1;
  if (kHome) model.messages[1].home = 0;
  add("worker 0", model, [](Model<S>& m) {
    m.worker(0).wait();
    m.done[0] = true;
  });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    m.done[1] = true;
  });
  add("worker 2", model, [](Model<S>& m) {
    m.parkings[2]->push(m.messages[0]);
    m.parkings[2]->push(m.messages[1]);
    m.worker(2).compute_open_until(&are_both_done<S>);
  });
}

// Worker 2 computes until its task has been run; worker 0, which may be the one that is woken for it, may have a task of
// its own by then, and compute for as long.
template <class S>
void thief_has_work() {
  Model<S>& model = job<S>(3, false);
  model.steals = true;
  model.messages[2].worker = 1;
  add("worker 0", model, [](Model<S>& m) {
    m.worker(0).wait();
    if (m.worker(0).stolen > 0) {
      m.done[0] = true;
      m.worker(0).make_ready(m.messages[2]);
    }
    await(&is_done<0, S>, &m);
  });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    m.done[0] = true;
  });
  add("worker 2", model, [](Model<S>& m) {
    m.parkings[2]->push(m.messages[0]);
    m.worker(2).compute_open_until(&is_done<0, S>);
  });
  add("sender", model, [](Model<S>& m) { m.parkings[0]->push(m.messages[1]); });
}

TEST_CASE("who is woken to take tasks, and leaves some or goes to work instead, has the next one come") {
  check_all(&rest_is_stolen<Checked<>>, kFew);
  check_all(&rest_is_stolen<Checked<>, true>, kFew);
  check_lost(&rest_is_stolen<Without<Step::kInviteNext>>);
  check_lost(&rest_is_stolen<Without<Step::kInviteNext, Step::kPassInvitation>>);
  check_all(&thief_has_work<Checked<>>, kFew);
  check_lost(&thief_has_work<Without<Step::kPassInvitation>>);
}

TEST_CASE("who is woken to take tasks has the next one come: more orders" * doctest::test_suite("long") *
          doctest::skip()) {
  check_all(&rest_is_stolen<Checked<>>, {.preemptions = kMany});
  check_all(&thief_has_work<Checked<>>, {.preemptions = kMany});
}

TEST_CASE("a task that becomes ready while it is being left is taken when it has been left") {
  check_all(&task_is_stolen<Checked<>, true>);
  check_quick(&task_is_stolen<Checked<>, true>, kFew);
  check_lost(&task_is_stolen<Without<Step::kAwaitLeft>, true>);
}

// Worker 0 begins to compute while its task is being left in a word outside of its inbox: worker 1 runs that meanwhile.
template <class S>
void left_with_one_that_computes() {
  Model<S>& model = job<S>(2, false);
  model.steals = true;
  model.left_for[0] = 0;
  add("worker 0", model, [](Model<S>& m) { m.worker(0).compute_open_until(&is_done<0, S>); });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    m.done[0] = true;
  });
  add("sender", model, [](Model<S>& m) { m.leave_where_tasks_move(0); });
}

TEST_CASE(
    "what is left in a channel to a worker that begins to compute is seen by that or by who has left it") {
  check_all(&left_with_one_that_computes<Checked<>>);
  check_lost(&left_with_one_that_computes<Without<Step::kTakeInOpen>>);
  check_lost(&left_with_one_that_computes<Without<Step::kLookWhetherOpen>>);
}

// The task of worker 0 leaves for worker 1 while something is being left for it in worker 0's word, and worker 0 computes
// until it has run.
template <class S>
void left_where_it_was() {
  Model<S>& model = job<S>(2, false);
  model.left_for[0] = 0;
  model.left_target[0].worker = 1;
  add("worker 0", model, [](Model<S>& m) {
    m.place.store(1, std::memory_order_seq_cst);
    if (!S::omits(Step::kTakeInLeft)) m.deliver_moved(0);
    await(&is_done<0, S>, &m);
  });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).wait();
    m.done[0] = true;
  });
  add("sender", model, [](Model<S>& m) { m.leave_for_one_that_moves(0); });
}

TEST_CASE("what is left where a task has been a moment ago is seen by that worker or by who has left it") {
  check_all(&left_where_it_was<Checked<>>);
  check_lost(&left_where_it_was<Without<Step::kLookWhetherMoved>>);
  check_lost(&left_where_it_was<Without<Step::kTakeInLeft>>);
}

// ---- Threads ----

template <class S>
void admit(Model<S>& model, int worker) {
  model.worker(worker).entrance.admit(false);
}

// A thread of rank 0 watches and goes back to user code while its worker sleeps: the hand-over that was lost
// once.
template <class S>
void thread_watches() {
  Model<S>& model = job<S>(1, true);
  admit(model, 0);
  model.events[0].thread = &model.threads[0];
  add("worker", model, [](Model<S>& m) {
    m.worker(0).entrance.enter();
    m.worker(0).wait();
    m.done[0] = true;
    m.worker(0).entrance.leave(m.worker(0));
  });
  add("thread", model, [](Model<S>& m) {
    m.worker(0).entrance.enter();
    m.worker(0).block(m.threads[0]);
    m.worker(0).entrance.leave(m.worker(0));
    await(&is_done<0, S>, &m);
  });
  add("network", model, [](Model<S>& m) {
    m.arrive(0);
    m.arrive(1);
  });
}

TEST_CASE("a thread that has watched hands over to its own worker") {
  check_all(&thread_watches<Checked<>>);
  check_quick(&thread_watches<Checked<>>, kFew);
  check_lost(&thread_watches<Without<Step::kHandOverHere>>);
}

// The worker's own thread computes until its two threads have had their messages, one pushed, one left
// elsewhere. It comes by in between, and may take in what has come.
template <class S>
void threads_block() {
  Model<S>& model = job<S>(1, false);
  admit(model, 0);
  model.messages[0].thread = &model.threads[0];
  model.left_for[0] = 0;
  model.left_target[0].thread = &model.threads[1];
  add("worker", model, [](Model<S>& m) {
    m.worker(0).entrance.enter();
    m.worker(0).look();
    m.worker(0).compute_until(&is_done<0, S>);
    m.worker(0).compute_until(&is_done<1, S>);
    m.worker(0).entrance.leave(m.worker(0));
  });
  add("thread 0", model, [](Model<S>& m) {
    m.worker(0).entrance.enter();
    m.worker(0).block(m.threads[0]);
    m.done[0] = true;
    m.worker(0).entrance.leave(m.worker(0));
  });
  add("thread 1", model, [](Model<S>& m) {
    m.worker(0).entrance.enter();
    m.worker(0).block(m.threads[1]);
    m.done[1] = true;
    m.worker(0).entrance.leave(m.worker(0));
  });
  add("sender", model, [](Model<S>& m) {
    m.parkings[0]->push(m.messages[0]);
    m.leave(0, quick ? std::memory_order_release : std::memory_order_seq_cst);
  });
}

// A thread makes its worker's task ready, whose own thread may be idle, twice, and waits for its answer.
template <class S>
void thread_wakes_owner() {
  Model<S>& model = job<S>(1, false);
  model.spins = true;
  admit(model, 0);
  model.messages[2].thread = &model.threads[0];
  add("worker", model, [](Model<S>& m) {
    m.worker(0).entrance.enter();
    m.worker(0).wait();
    m.worker(0).wait();
    m.worker(0).make_ready(m.messages[2]);
    m.worker(0).entrance.leave(m.worker(0));
  });
  add("thread", model, [](Model<S>& m) {
    for (int i = 0; i < 2; ++i) {
      m.worker(0).entrance.enter();
      m.worker(0).make_ready(m.messages[i]);
      if (i == 1) m.worker(0).block(m.threads[0]);
      m.worker(0).entrance.leave(m.worker(0));
    }
  });
}

// The worker's own thread sleeps, wakes for a message, and takes the thread's with it, or leaves it to the
// thread.
template <class S>
void thread_and_owner_park() {
  Model<S>& model = job<S>(1, false);
  model.spins = true;
  admit(model, 0);
  model.messages[1].thread = &model.threads[0];
  add("worker", model, [](Model<S>& m) {
    m.worker(0).entrance.enter();
    m.worker(0).wait();
    m.worker(0).compute_until(&is_done<0, S>);
    m.worker(0).entrance.leave(m.worker(0));
  });
  add("thread", model, [](Model<S>& m) {
    m.worker(0).entrance.enter();
    m.worker(0).block(m.threads[0]);
    m.done[0] = true;
    m.worker(0).entrance.leave(m.worker(0));
  });
  add("sender", model, [](Model<S>& m) {
    m.parkings[0]->push(m.messages[0]);
    m.parkings[0]->push(m.messages[1]);
  });
}

TEST_CASE("threads and their worker's own thread wake each other, and are woken in each other's place") {
  check_all(&thread_wakes_owner<Checked<>>);
  check_lost(&thread_wakes_owner<Without<Step::kWakeOwner>>);
  check_lost(&thread_wakes_owner<Without<Step::kForget>>);
  check_all(&thread_and_owner_park<Checked<>>);
  check_quick(&thread_and_owner_park<Checked<>>, kFew);
  check_lost(&thread_and_owner_park<Without<Step::kAppoint>>);
  check_lost(&thread_and_owner_park<Without<Step::kAnnounceForParked>>);
}

TEST_CASE("two threads block while their worker's own thread computes" * doctest::test_suite("long") *
          doctest::skip()) {
  check_all(&threads_block<Checked<>>, {.preemptions = kMany});
  check_quick(&threads_block<Checked<>>, kFew);
}

// As `baton`, but who may go to work instead of watching is a worker with a thread, which sleeps here too.
template <class S>
void thread_and_baton() {
  Model<S>& model = job<S>(2, true);
  admit(model, 1);
  model.events[1].worker = 1;
  model.events[1].thread = &model.threads[0];
  model.messages[0].worker = 1;
  add("worker 0", model, [](Model<S>& m) {
    m.worker(0).wait();
    m.worker(0).compute_until(&is_done<0, S>);
  });
  add("worker 1", model, [](Model<S>& m) {
    m.worker(1).entrance.enter();
    m.worker(1).wait();
    m.worker(1).compute_until(&is_done<0, S>);
    m.worker(1).entrance.leave(m.worker(1));
  });
  add("thread", model, [](Model<S>& m) {
    m.worker(1).entrance.enter();
    m.worker(1).block(m.threads[0]);
    m.done[0] = true;
    m.worker(1).entrance.leave(m.worker(1));
  });
  add("sender", model, [](Model<S>& m) { m.parkings[1]->push(m.messages[0]); });
  add("network", model, [](Model<S>& m) {
    m.arrive(0);
    m.arrive(1);
  });
}

TEST_CASE("the baton among workers and threads" * doctest::test_suite("long") * doctest::skip()) {
  check_all(&thread_and_baton<Checked<>>, kFew);
  check_lost(&thread_and_baton<Without<Step::kWatchForParked>>);
}

}  // namespace
}  // namespace tmpi::sched::check
