"""Stacks of suspended ranks. gdb knows the stacks of threads alone. A suspended rank's is shown as what has called the innermost
frame of its worker's thread: unwinding goes on with the registers that the rank has saved. The real frame stays number 0, so that the
thread goes on as it would. Works with core files, since nothing is written."""

import gdb
import gdb.unwinder

from .images import images

from .ranks import INSTRUCTION, STACK_POINTER

# By the numbers of the processor's ABI for unwinders.
NAMES = {3: "rbx", 6: "rbp", STACK_POINTER: "rsp", 12: "r12", 13: "r13", 14: "r14", 15: "r15", INSTRUCTION: "rip"}


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Unwinder(gdb.unwinder.Unwinder):
    """Goes on with `registers` behind the frame that is at `place`."""

    def __init__(self):
        super().__init__("tmpi suspended rank")
        self.registers = None
        self.place = None
        self.thread = None

    def __call__(self, pending):
        if self.registers is None:
            return None
        place = (pending.read_register("rsp"), pending.read_register("rip"))
        if tuple(int(register) for register in place) != self.place:
            return None
        # gdb ends a backtrace whose frames do not follow each other in memory: this one says that it lies below the rank's.
        info = pending.create_unwind_info(FrameId(gdb.Value(to_long(self.registers[STACK_POINTER] - 256)).cast(place[0].type), place[1]))
        for number, value in self.registers.items():
            name = NAMES[number]
            info.add_saved_register(name, gdb.Value(to_long(value)).cast(pending.read_register(name).type))
        return info

    def follow(self, thread, registers):
        """Shows the rank with these saved registers in place of what the thread runs. The thread is selected."""
        self.leave()
        thread.switch()
        newest = gdb.newest_frame()
        self.place = (int(newest.read_register("rsp")), int(newest.read_register("rip")))
        self.registers, self.thread = registers, thread
        gdb.invalidate_cached_frames()

    def leave(self):
        if self.registers is not None:
            self.registers = self.thread = None
            gdb.invalidate_cached_frames()

    @property
    def follows(self):
        """The selected thread's frames are those of a suspended rank."""
        return self.registers is not None and gdb.selected_thread() == self.thread


def to_long(value):
    return value - (1 << 64) if value >> 63 else value


class OwnFrames:
    """A frame filter: of a suspended rank backtraces show its own frames and, of tmpi, the function that it has called."""

    def __init__(self):
        self.name = "tmpi suspended rank"
        self.priority = 1000
        self.enabled = True

    def filter(self, frames):
        if not unwinder.follows:
            return frames
        images.look()
        return self.own(frames)

    @staticmethod
    def own(frames):
        inner = None  # the latest frame that is in no image
        for frame in frames:
            if frame.inferior_frame().level() == 0:
                continue
            if images.at(frame.inferior_frame().pc()) is None:
                inner = frame
                continue
            if inner is not None:
                yield inner
            inner = None
            yield frame


unwinder = Unwinder()
