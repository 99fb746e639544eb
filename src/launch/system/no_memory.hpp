// A process of the launcher's that finds no memory where nobody can be told of it: it says one sentence and
// ends, and with it the job. That is so from the start of every program that this is linked into: an allocation
// that fails and that nobody has caught does not end in "terminate called".
#pragma once

namespace tmpi::launch {

/// The exit code of such a process.
inline constexpr int kExitNoMemory = 71;  // EX_OSERR of sysexits.h: the system cannot do it

/// How it is said; otherwise to stderr. `report` gets a text in fixed memory, must not allocate, and may return
/// if it cannot say it.
void report_no_memory_by(void (*report)(const char* what) noexcept) noexcept;

/// Says that there is no memory for `what`, and ends. Any thread.
[[noreturn]] void no_memory_for(const char* what) noexcept;

}  // namespace tmpi::launch
