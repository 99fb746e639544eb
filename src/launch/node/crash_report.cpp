#include "launch/node/crash_report.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/platform.hpp"
#include "launch/control/control.hpp"
#include "launch/node/stack_probe.hpp"
#include "launch/spec/job_spec.hpp"
#include "launch/system/no_memory.hpp"
#include "launch/system/parent_death.hpp"
#include "launch/system/safe_text.hpp"
#include "mpi/rank/rank.hpp"
#include "privatize/loader.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {

namespace {

constexpr int kMostFrames = 32;      // in the report; calls of a function by itself count once
constexpr int kMostSteps = 100'000;  // of the unwinder, about a microsecond each

constexpr useconds_t kMomentForRanks = 300'000;

char host[256];
pid_t node_process;

struct FatalSignal {
  int number;
  const char* name;
  const char* meaning;
};

constexpr FatalSignal kFatal[] = {
    {SIGSEGV, "SIGSEGV", "segmentation fault"},
    {SIGBUS, "SIGBUS", "bus error"},
    {SIGFPE, "SIGFPE", "arithmetic error"},
    {SIGILL, "SIGILL", "illegal instruction"},
    {SIGABRT, "SIGABRT", "aborted"},
    {SIGSYS, "SIGSYS", "bad system call"},
    {SIGTRAP, "SIGTRAP", "trap"},
    {SIGXFSZ, "SIGXFSZ", "a file has become larger than the limit (ulimit -f)"},
};

const FatalSignal& fatal_signal(int number) {
  for (const FatalSignal& fatal : kFatal) {
    if (fatal.number == number) return fatal;
  }
  return kFatal[0];
}

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/// Where an address is: function and file, as far as anybody knows.
struct Place {
  const char* function = nullptr;
  std::uintptr_t function_offset = 0;
  const char* object = nullptr;
  std::uintptr_t object_offset = 0;
  bool in_rank = false;  ///< in a rank's image, not in the node process's own code
};

Place place_of(std::uintptr_t address) {
  const privatize::ImageAddress image = privatize::describe_address(reinterpret_cast<const void*>(address));
  if (image.object) return {image.symbol, image.symbol_offset, image.object, image.offset, true};
  Dl_info info{};
  ElfW(Sym)* symbol = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(address), &info, reinterpret_cast<void**>(&symbol),
              RTLD_DL_SYMENT) == 0)
    return {};
  Place place;
  place.object = info.dli_fname;
  place.object_offset = address - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  // The nearest exported symbol is a guess, and wrong inside a library's hidden functions: believe it only
  // within its size.
  const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  if (info.dli_sname && symbol && offset < symbol->st_size) {
    place.function = info.dli_sname;
    place.function_offset = offset;
  }
  return place;
}

/// "  #3 solve+0x1c (heat)".
void describe_frame(SafeText& text, int number, const Place& place, std::uintptr_t address) {
  text << "  #" << static_cast<long>(number) << " ";
  if (place.function) {
    (text << place.function << "+").hex(place.function_offset);
  } else {
    text.hex(place.object ? place.object_offset : address);
  }
  if (place.object) text << " (" << base_name(place.object) << ")";
  text << "\n";
}

struct Backtrace {
  SafeText& text;
  std::uintptr_t fault_address;  // the interrupted instruction: frames before it belong to the handler
  bool started = false;
  int frames = 0;  // in the text
  int steps = 0;
  std::uintptr_t function = 0;  // start of the latest frame's function
  long repeated = 0;            // frames left out: the function had called itself

  void add(std::uintptr_t address, bool is_return_address);
  void end_repetition();
  bool full() const { return frames >= kMostFrames || steps >= kMostSteps; }
  bool complete = false;  // main has been reached: what lies below is tmpi's
};

void Backtrace::end_repetition() {
  if (repeated > 0) text << "     ... called by itself, " << repeated << " times\n";
  repeated = 0;
}

void Backtrace::add(std::uintptr_t address, bool is_return_address) {
  // A return address may lie behind the end of its function (a call to a noreturn function): look one byte
  // before it.
  const std::uintptr_t looked_up = address - (is_return_address ? 1 : 0);
  const Place place = place_of(looked_up);
  const std::uintptr_t start = place.function ? looked_up - place.function_offset : 0;
  if (start != 0 && start == function) {
    ++repeated;
    return;
  }
  end_repetition();
  function = start;
  describe_frame(text, frames++, place, address);
  complete = place.in_rank && place.function && strcmp(place.function, "main") == 0;
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  Backtrace& trace = *static_cast<Backtrace*>(argument);
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == trace.fault_address) trace.started = true;
  if (!trace.started) return _URC_NO_REASON;
  if (address == 0 || trace.complete) return _URC_END_OF_STACK;
  ++trace.steps;
  if (trace.full()) {
    trace.end_repetition();
    trace.text << "  ... and more\n";
    return _URC_END_OF_STACK;
  }
  trace.add(address, before_instruction == 0);
  return _URC_NO_REASON;
}

void add_backtrace(SafeText& text, const ucontext_t& context) {
  const std::uintptr_t instruction = instruction_pointer(context);
  Backtrace trace{text, instruction};
  _Unwind_Backtrace(&add_frame, &trace);
  if (trace.steps > 1) return trace.end_repetition();
  // A call through a wild pointer: no unwinder knows the way, but the caller's address lies on top of the
  // stack.
  const auto* top = reinterpret_cast<const std::uintptr_t*>(stack_pointer(context));
  if (trace.steps == 0) trace.add(instruction, false);
  trace.add(*top, true);
}

/// Who crashed: the rank if one was running here, else the node process itself.
void describe_victim(SafeText& text, int rank) {
  if (rank >= 0) {
    text << "rank " << static_cast<long>(rank);
  } else {
    text << "the node process (pid " << static_cast<long>(getpid()) << ", outside any rank)";
  }
  text << " on host " << host;
}

bool is_memory_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS;
}

const void* stack_top(const ucontext_t& context) {
  return reinterpret_cast<const void*>(stack_pointer(context));
}

/// The task whose stack the fault has shown to be too small, or null.
const sched::Task* overflowed(int signal, const siginfo_t& info, const ucontext_t& context) {
  const sched::Scheduler* scheduler = sched::scheduler();
  return is_memory_fault(signal) && info.si_code > 0 && scheduler != nullptr
             ? scheduler->overflowed(info.si_addr, stack_top(context))
             : nullptr;
}

/// How far down the stack was to go, as far as the fault tells.
std::uintptr_t lowest_needed(const siginfo_t& info, const ucontext_t& context) {
  const std::uintptr_t stack = stack_pointer(context);
  const std::uintptr_t reached = std::min(reinterpret_cast<std::uintptr_t>(info.si_addr), stack);
  const std::uintptr_t frame = end_of_probed_frame(context);
  return frame != 0 && frame < reached ? frame : reached;
}

/// What --stack-size should have been: twice as large, or as large as the frame that did not fit and what it calls.
std::size_t wanted_kilobytes(const sched::Task& task, std::size_t kilobytes, std::uintptr_t lowest) {
  constexpr std::size_t kForCalls = 64;
  const auto top = reinterpret_cast<std::uintptr_t>(task.stack.base + task.stack.size);
  const std::size_t used = (top - lowest) / 1024 + kForCalls;
  std::size_t wanted = kilobytes * 2;
  while (wanted < used) wanted *= 2;
  return wanted;
}

/// An address just above the running rank's stack, which the rank has come to from a variable on it.
bool is_above_stack(int signal, const siginfo_t& info) {
  const sched::Scheduler* scheduler = sched::scheduler();
  const sched::Task* task = sched::current();
  if (!is_memory_fault(signal) || info.si_code <= 0 || scheduler == nullptr || task == nullptr) return false;
  if (task->stack.base == nullptr || scheduler->guard_page_owner(info.si_addr) == nullptr) return false;
  const auto top = reinterpret_cast<std::uintptr_t>(task->stack.base + task->stack.size);
  const auto at = reinterpret_cast<std::uintptr_t>(info.si_addr);
  return at >= top && at - top < scheduler->stack_size();
}

void describe_overflow(SafeText& text, const FatalSignal& fatal, const siginfo_t& info,
                       const ucontext_t& context, const sched::Task& task) {
  const std::size_t kilobytes = sched::scheduler()->stack_size() >> 10;
  text << " overflowed its stack of " << static_cast<long>(kilobytes) << " KiB (" << fatal.name
       << " at address ";
  text.hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
  const auto wanted = static_cast<long>(wanted_kilobytes(task, kilobytes, lowest_needed(info, context)));
  if (wanted > static_cast<long>(kMostStack >> 10)) {
    text << "), and the largest that --stack-size gives is 4G. Put its large variables on the heap, or look "
            "for endless "
            "recursion\n";
    return;
  }
  text << "). Pass tmpirun a larger one: --stack-size ";
  if (wanted % 1024 == 0) {
    text << wanted / 1024 << "M";
  } else {
    text << wanted << "k";
  }
  text << ", or look for endless recursion\n";
}

/// From the signal alone.
void describe_signal(SafeText& text, const FatalSignal& fatal, const siginfo_t& info) {
  const bool fault = is_memory_fault(fatal.number);
  text << ": " << fatal.meaning << " (" << fatal.name;
  if (info.si_code <= 0) {  // by kill or raise, not by an instruction
    if (info.si_pid != getpid()) {
      text << ", sent by process " << static_cast<long>(info.si_pid);
    } else if (fatal.number != SIGABRT && fatal.number != SIGXFSZ) {
      text << ", raised by the program";
    }
  } else if (fault && info.si_code == SI_KERNEL) {
    text << ", through a pointer that is no address";  // the kernel does not tell which: not a canonical one
  } else if (fault || fatal.number == SIGFPE || fatal.number == SIGILL) {
    text << (fault ? " at address " : " at instruction ");
    text.hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
  }
  text << ")\n";
}

// A report on its way. What is looked up after the first line may have been overwritten by the rank as well: the
// handler then faults itself, is called again, and goes on behind what it was about to look at.
struct Report {
  enum class Next : unsigned char { kOverflow, kBacktrace, kEnd, kNothing };
  SafeText text;
  int rank;
  int signal;
  siginfo_t info;
  const ucontext_t* context;
  std::size_t victim = 0;  // length of the text as far as it names the victim
  Next next = Next::kOverflow;
};
thread_local Report* unfinished_report = nullptr;

[[noreturn]] void complete(Report& report) {
  if (report.next == Report::Next::kOverflow) {
    report.next = Report::Next::kBacktrace;
    if (const sched::Task* task = overflowed(report.signal, report.info, *report.context)) {
      report.text.cut(report.victim);
      describe_overflow(report.text, fatal_signal(report.signal), report.info, *report.context, *task);
    } else if (is_above_stack(report.signal, report.info)) {
      report.text
          << "  above the rank's stack: most likely an index that is too large for an array of a function\n";
    }
  }
  if (report.next == Report::Next::kBacktrace) {
    report.next = Report::Next::kEnd;
    add_backtrace(report.text, *report.context);
  } else if (report.next == Report::Next::kEnd) {
    report.next = Report::Next::kNothing;
    report.text << "  (the stack cannot be followed any further)\n";
  }
  Control& control = *Control::instance();
  control.end_reason().publish(EndKind::kCrashed, report.rank, 128 + report.signal, report.text.length());
  if (control.on_control_thread()) control.leave_crashed(128 + report.signal);
  control.wake();
  Control::wait_for_exit();
}

/// In a process that a rank has made, by whatever means: it dies of the signal, as it would without us.
void die_of(int number, const siginfo_t& info) {
  signal(number, SIG_DFL);
  if (info.si_code <= 0) kill(getpid(), number);  // else the instruction runs again
}

/// What a rank writes is its own affair; what the node process writes gets an error in place of the signal.
bool is_own_file_too_large(int number) {
  if (number != SIGXFSZ) return false;
  const sched::Task* const task = sched::current();
  return privatize::running_rank() < 0 || (task != nullptr && task->inside);
}

void on_fatal_signal(int number, siginfo_t* info, void* context) {
  if (getpid() != node_process) return die_of(number, *info);
  if (is_own_file_too_large(number)) return;
  if (unfinished_report != nullptr) complete(*unfinished_report);
  Control& control = *Control::instance();
  // Most likely a rank has overwritten what it uses, and is about to crash itself: that is the better report.
  if (privatize::running_rank() < 0) usleep(kMomentForRanks);
  char* buffer = control.end_reason().claim();
  if (buffer == nullptr && control.on_control_thread()) control.leave_crashed(128 + number);
  if (buffer == nullptr) Control::wait_for_exit();
  Report report{SafeText(buffer, EndReason::kCapacity), privatize::running_rank(), number, *info,
                static_cast<const ucontext_t*>(context)};
  describe_victim(report.text, report.rank);
  report.victim = report.text.length();
  describe_signal(report.text, fatal_signal(number), *info);
  unfinished_report = &report;
  complete(report);
}

// In a child that has been forked. What the program has set in our place stays.
void remove_crash_handlers() noexcept {
  for (const FatalSignal& fatal : kFatal) {
    struct sigaction action {};
    if (sigaction(fatal.number, nullptr, &action) == 0 && action.sa_sigaction == &on_fatal_signal)
      signal(fatal.number, SIG_DFL);
  }
}

// Kills the group that this process was started as the leader of, and ends. Control::abandoned() may have moved it into
// tmpirun's, in which a script may have started other things.
void on_parent_death(int) {
  kill(-getpid(), SIGKILL);
  _exit(kExitLostChannel);
}

}  // namespace

bool is_stack_overflow(int signal, const siginfo_t& info, const void* context) noexcept {
  return overflowed(signal, info, *static_cast<const ucontext_t*>(context)) != nullptr;
}

void report_no_memory(const char* what) noexcept {
  Control* control = Control::instance();
  if (privatize::in_forked_child()) return;
  if (control == nullptr || !control->can_report()) return;
  char* buffer = control->end_reason().claim();
  if (buffer == nullptr) Control::wait_for_exit();
  gethostname(host, sizeof(host) - 1);
  SafeText text(buffer, EndReason::kCapacity);
  const int rank = privatize::running_rank();
  const mpi::Rank* local = rank >= 0 && mpi::job() != nullptr ? mpi::job()->local(rank) : nullptr;
  if (rank >= 0) {
    text << "rank " << static_cast<long>(rank);
  } else {
    text << "the node process";
  }
  text << " on host " << host << ": ";
  if (local != nullptr && local->task != nullptr && local->task->inside) text << local->call() << ": ";
  text << "there is no memory for " << what
       << ", and without it the job cannot go on. Use fewer ranks per node, or look at the limits (ulimit "
          "-v, a "
          "container's)";
  control->end_reason().publish(EndKind::kAborted, rank, kExitNoMemory, text.length());
  control->wake();
  Control::wait_for_exit();
}

void install_crash_handlers() {
  gethostname(host, sizeof(host) - 1);
  node_process = getpid();
  struct sigaction action {};
  action.sa_sigaction = &on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const FatalSignal& fatal : kFatal) {
    struct sigaction before {};
    const bool ignored =
        fatal.number == SIGXFSZ && sigaction(SIGXFSZ, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
    if (!ignored) sigaction(fatal.number, &action, nullptr);
  }
  pthread_atfork(nullptr, nullptr, &remove_crash_handlers);
}

void install_parent_death_handler() {
  struct sigaction action {};
  action.sa_handler = &on_parent_death;
  sigaction(parent_death_signal(), &action, nullptr);
}

}  // namespace tmpi::launch
