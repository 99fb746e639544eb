#include "launch/crash_report.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>

#include "launch/control.hpp"
#include "launch/parent_death.hpp"
#include "launch/safe_text.hpp"
#include "mpi/core/rank.hpp"
#include "privatize/loader.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {

namespace {

constexpr int kMostFrames = 32;

char host[256];

struct FatalSignal {
  int number;
  const char* name;
  const char* meaning;
};

constexpr FatalSignal kFatal[] = {
    {SIGSEGV, "SIGSEGV", "segmentation fault"},  {SIGBUS, "SIGBUS", "bus error"},
    {SIGFPE, "SIGFPE", "arithmetic error"},      {SIGILL, "SIGILL", "illegal instruction"},
    {SIGABRT, "SIGABRT", "aborted"},             {SIGSYS, "SIGSYS", "bad system call"},
    {SIGTRAP, "SIGTRAP", "trap"},
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

/// "  #3 solve+0x1c (heat)".
void describe_frame(SafeText& text, int number, std::uintptr_t address, bool is_return_address) {
  // A return address may lie behind the end of its function (a call to a noreturn function): look one byte before it.
  const std::uintptr_t looked_up = address - (is_return_address ? 1 : 0);
  text << "  #" << static_cast<long>(number) << " ";
  const privatize::ImageAddress image = privatize::describe_address(reinterpret_cast<const void*>(looked_up));
  if (image.object) {
    if (image.symbol) {
      (text << image.symbol << "+").hex(image.symbol_offset + (address - looked_up));
    } else {
      text.hex(image.offset);
    }
    text << " (" << base_name(image.object) << ")\n";
    return;
  }
  Dl_info info{};
  ElfW(Sym)* symbol = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(looked_up), &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0) {
    text.hex(address) << "\n";
    return;
  }
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  // The nearest exported symbol is a guess, and wrong inside a library's hidden functions: believe it only within its size.
  if (info.dli_sname && symbol && looked_up - start < symbol->st_size) {
    (text << info.dli_sname << "+").hex(address - start);
  } else {
    text.hex(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  }
  text << " (" << base_name(info.dli_fname) << ")\n";
}

struct Backtrace {
  SafeText& text;
  std::uintptr_t fault_address;  // the interrupted instruction: frames before it belong to the handler
  bool started = false;
  int frames = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  Backtrace& trace = *static_cast<Backtrace*>(argument);
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == trace.fault_address) trace.started = true;
  if (!trace.started) return _URC_NO_REASON;
  if (address == 0) return _URC_END_OF_STACK;
  if (trace.frames == kMostFrames) {
    trace.text << "  ... and more\n";
    return _URC_END_OF_STACK;
  }
  describe_frame(trace.text, trace.frames++, address, before_instruction == 0);
  return _URC_NO_REASON;
}

void add_backtrace(SafeText& text, const ucontext_t& context) {
  const std::uintptr_t instruction = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  Backtrace trace{text, instruction};
  _Unwind_Backtrace(&add_frame, &trace);
  if (trace.frames > 1) return;
  // A call through a wild pointer: no unwinder knows the way, but the caller's address lies on top of the stack.
  const auto* top = reinterpret_cast<const std::uintptr_t*>(context.uc_mcontext.gregs[REG_RSP]);
  if (trace.frames == 0) describe_frame(text, 0, instruction, false);
  describe_frame(text, 1, *top, true);
}

/// Who crashed: the rank if one was running here, else the node process itself.
int describe_victim(SafeText& text) {
  const int rank = privatize::running_rank();
  if (rank >= 0) {
    text << "rank " << static_cast<long>(rank);
  } else {
    text << "the node process (pid " << static_cast<long>(getpid()) << ", outside any rank)";
  }
  text << " on host " << host;
  return rank;
}

void describe_cause(SafeText& text, const FatalSignal& fatal, const siginfo_t& info) {
  const sched::Scheduler* scheduler = sched::scheduler();
  const bool fault = fatal.number == SIGSEGV || fatal.number == SIGBUS;
  const sched::Task* overflowed = fault && scheduler ? scheduler->guard_page_owner(info.si_addr) : nullptr;
  if (overflowed) {
    const long kilobytes = static_cast<long>(overflowed->stack.size >> 10);
    text << " overflowed its stack of " << kilobytes << " KiB (" << fatal.name << " at address ";
    text.hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
    text << "). Pass tmpirun a larger one: --stack-size ";
    const long wanted = kilobytes * 2;
    if (wanted % 1024 == 0) {
      text << wanted / 1024 << "M";
    } else {
      text << wanted << "k";
    }
    text << ", or look for endless recursion";
    return;
  }
  text << ": " << fatal.meaning << " (" << fatal.name;
  if (info.si_code <= 0 && info.si_pid != getpid()) {
    text << ", sent by process " << static_cast<long>(info.si_pid);
  } else if (fault || fatal.number == SIGFPE || fatal.number == SIGILL) {
    text << (fault ? " at address " : " at instruction ");
    text.hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
  }
  text << ")";
}

// What a second fault, inside the handler itself, needs to send the report as far as it has come.
thread_local SafeText* unfinished_report = nullptr;
thread_local int unfinished_rank = -1;
thread_local int unfinished_signal = 0;

[[noreturn]] void send_report(const SafeText& text, int rank, int signal) {
  Control& control = *Control::instance();
  control.end_report().publish(EndKind::kCrashed, rank, 128 + signal, text.length());
  control.wake();
  Control::wait_for_exit();
}

void on_fatal_signal(int number, siginfo_t* info, void* context) {
  if (unfinished_report) {
    *unfinished_report << "  (the stack cannot be followed any further)\n";
    send_report(*unfinished_report, unfinished_rank, unfinished_signal);
  }
  char* buffer = Control::instance()->end_report().claim();
  if (!buffer) Control::wait_for_exit();
  SafeText text(buffer, EndReport::kCapacity);
  unfinished_report = &text;
  unfinished_signal = number;
  unfinished_rank = describe_victim(text);
  describe_cause(text, fatal_signal(number), *info);
  text << "\n";
  add_backtrace(text, *static_cast<const ucontext_t*>(context));
  send_report(text, unfinished_rank, number);
}

void on_parent_death(int) { kill(0, SIGKILL); }

}  // namespace

void install_crash_handlers() {
  gethostname(host, sizeof(host) - 1);
  struct sigaction action {};
  action.sa_sigaction = &on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const FatalSignal& fatal : kFatal) sigaction(fatal.number, &action, nullptr);
}

void install_parent_death_handler() {
  struct sigaction action {};
  action.sa_handler = &on_parent_death;
  sigaction(parent_death_signal(), &action, nullptr);
}

}  // namespace tmpi::launch
