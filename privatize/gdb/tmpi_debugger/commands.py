"""The commands `ranks` and `rank`, the function $_rank(), and what keeps them right when the process goes on and stops."""

import gdb

from .images import images
from .places import Places
from .ranks import all_ranks, rank_of_number, same_thread_afterwards, selected_frame, stack_pointers, stacks, thread_of_number, thread_on_stack
from .unwinding import OwnFrames, unwinder
from .waits import waits_for

MOST_FRAMES = 64  # between the innermost one and the rank's own code


def own_frame(rank_number):
    """The innermost frame in the image of the rank, of the selected thread; None: there is none. After images.look()."""
    frame = gdb.newest_frame()
    for _ in range(MOST_FRAMES):
        if frame is None or not frame.is_valid():
            return None
        image = images.at(frame.pc())
        shows_it = not unwinder.follows or frame.level() > 0
        if shows_it and image is not None and (rank_number is None or image.rank == rank_number):
            return frame
        try:
            frame = frame.older()
        except gdb.error:
            return None
    return None


def show_stack_of(rank, pointers):
    """The selected thread's frames are the rank's from now on. A sentence if that cannot be, else None."""
    unwinder.leave()
    if rank.state in ("Init", "Finished"):
        return "it has not started yet" if rank.state == "Init" else "it has finished"
    thread = thread_on_stack(rank, pointers)
    if thread is not None:
        thread.switch()
        return None
    registers = rank.saved_registers()
    if registers is None:
        thread = thread_of_number(rank.worker_thread) if rank.state == "Running" else None
        if thread is None:
            return "it is just being switched, or runs on a stack of its own: go on a little (stepi), or look at its thread (info threads)"
        thread.switch()
        return None
    thread = thread_of_number(rank.worker_thread) or gdb.selected_thread()
    if thread is None:
        return "there is no thread to show it with"
    unwinder.follow(thread, registers)
    return None


def state_of(rank, runs):
    """"blocked in MPI_Recv from rank 3 with tag 5 on MPI_COMM_WORLD" """
    state = "running" if runs and rank.state != "Blocked" else rank.state.lower()
    if rank.state != "Blocked":
        return {"init": "not started yet"}.get(state, state)
    words = ["blocked"]
    if rank.call:
        words += ["in", rank.call]
    return " ".join(words + [waits_for(rank)]).rstrip()


def line_of(frame, image):
    """"exchange (halo.c:12)"; of a rank that gdb is not narrowed to, by the same place in the image that it is narrowed to."""
    pc = frame.pc()
    name = frame.name()
    if name is None and images.rank is not None:
        for other in images.sorted:
            if other.rank == images.rank and other.name == image.name:
                pc += other.base - image.base
    before = pc if frame.older() is None or frame.newer() is None else pc - 1
    if name is None:
        block = gdb.block_for_pc(before) if hasattr(gdb, "block_for_pc") else None
        while block is not None and block.function is None:
            block = block.superblock
        name = block.function.name if block is not None else "?"
    place = gdb.find_pc_line(before)
    if place.symtab is None:
        return name
    return "%s (%s:%d)" % (name, place.symtab.filename.rsplit("/", 1)[-1], place.line)


class Ranks(gdb.Command):
    """ranks: for each rank of this node process what it does, what it waits for, and where in its program that is."""

    def __init__(self):
        super().__init__("ranks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        images.look()
        listed = all_ranks()
        if not listed:
            self.list_programs()
            return
        lines = []
        places = Places()
        followed, thread = unwinder.registers, unwinder.thread
        with same_thread_afterwards():
            pointers = stack_pointers()
            for rank in listed:
                lines.append((rank.number, self.describe(rank, pointers, places)))
            unwinder.leave()
            if followed is not None:
                unwinder.follow(thread, followed)
        for first, last, text in runs_of(lines):
            print("%s: %s" % ("rank %d" % first if first == last else "ranks %d-%d" % (first, last), text))

    @staticmethod
    def describe(rank, pointers, places):
        runs = rank.task != 0 and thread_on_stack(rank, pointers) is not None
        text = state_of(rank, runs)
        registers = rank.saved_registers() if not runs and rank.state not in ("Init", "Finished") else None
        place = places.of(rank.number, registers) if registers is not None else None
        if place is None and show_stack_of(rank, pointers) is None:
            frame = own_frame(rank.number)
            if frame is not None:
                place = ", at " + line_of(frame, images.at(frame.pc()))
                if registers is not None:
                    places.learn(rank.number, registers, frame, place)
        return text + (place or "")

    @staticmethod
    def list_programs():
        seen = set()
        for image in images.all():
            if image.rank not in seen:
                seen.add(image.rank)
                print("rank %d: %s" % (image.rank, image.name))


def runs_of(lines):
    """(first, last, text) of ranks that follow each other and have the same text."""
    first = last = text = None
    for number, words in lines:
        if words == text and number == last + 1:
            last = number
            continue
        if text is not None:
            yield first, last, text
        first, last, text = number, number, words
    if text is not None:
        yield first, last, text


class RankCommand(gdb.Command):
    """rank N: show rank N: its stack (bt, up, info locals, finish), also while it is suspended, and its image (its variables;
    breakpoints hit in it alone).
rank apply all COMMAND, rank apply 0-3,7 COMMAND: the command for each of these ranks.
rank break N LOCATION [if CONDITION], rank tbreak ...: a breakpoint that stops rank N alone, whichever rank is shown.
rank all: show the images of all ranks, and what the threads run.
rank: say whose the selected frame is.
next, step and finish go on with the rank that is shown. $_rank() is the rank that the selected thread runs:
break FUNCTION if $_rank() == 3"""

    def __init__(self):
        super().__init__("rank", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split(None, 2)
        if not words:
            self.say()
        elif words[0] == "apply":
            if len(words) < 3:
                raise gdb.GdbError("rank apply: all, or numbers of ranks as in 0-3,7, and a command")
            self.apply(words[1], words[2])
        elif words[0] in ("break", "tbreak"):
            if len(words) < 3:
                raise gdb.GdbError("rank %s: a number and a location, as in rank %s 2 halo.c:12 if i > 3" % (words[0], words[0]))
            self.stop_one(words[0], number_from(words[1]), words[2])
        elif words == ["all"]:
            unwinder.leave()
            images.show_all()
        else:
            show_rank(number_from(argument.strip()), True)

    @staticmethod
    def say():
        number, image = None, None
        if selected_frame() is not None:
            images.look()
            image = images.at(gdb.selected_frame().pc())
            number = image.rank if image is not None else running_rank()
        if unwinder.follows and shown.number is not None:
            number = shown.number
        if number is None:
            print("the selected frame is no rank's")
        else:
            print("rank %d%s" % (number, ", " + image.name if image is not None else ""))

    @staticmethod
    def stop_one(command, number, where):
        images.look()
        if not any(image.rank == number for image in images.sorted):
            raise gdb.GdbError("rank %d is not in this node process; `ranks` lists those that are" % number)
        location, _, condition = where.partition(" if ")
        gdb.execute("%s %s if $_rank() == %d%s" % (command, location, number, " && (%s)" % condition if condition else ""))

    @staticmethod
    def apply(which, command):
        there = [rank.number for rank in all_ranks()] or sorted({image.rank for image in images.all()})
        chosen = there if which == "all" else numbers_from(which)
        before = images.rank
        thread = gdb.selected_thread()
        try:
            for number in chosen:
                print("\nrank %d:" % number)
                if not show_rank(number, False):
                    continue
                try:
                    gdb.execute(command)
                except gdb.error as error:
                    print(error)
        finally:
            unwinder.leave()
            if before is not None:
                show_rank(before, False)
            else:
                images.show_all()
                if thread is not None and thread.is_valid():
                    thread.switch()


def number_from(word):
    try:
        return int(word)
    except ValueError:
        raise gdb.GdbError("rank: a number, `all`, `apply`, `break` or `tbreak`, not %r" % word)


def numbers_from(ranges):
    numbers = []
    for one in ranges.split(","):
        first, dash, end = one.partition("-")
        numbers += range(number_from(first), number_from(end if dash else first) + 1)
    return numbers


class Shown:
    number = None


shown = Shown()


def show_rank(number, loudly):
    """False: it has no stack; it has been said why."""
    unwinder.leave()
    if images.rank != number:
        images.narrow(number)
    shown.number = number
    rank = rank_of_number(number)
    if rank is None:
        return True
    why_not = show_stack_of(rank, stack_pointers())
    if why_not is not None:
        print("rank %d has no stack to be shown: %s" % (number, why_not))
        return False
    images.look()
    frame = own_frame(number)
    if frame is not None:
        frame.select()
    if loudly:
        runs = not unwinder.follows
        print("[rank %d, thread %d, %s]" % (number, gdb.selected_thread().num, state_of(rank, runs)))
        gdb.execute("frame")
    return True


def running_rank():
    """The rank that the selected thread runs; None: it runs none."""
    try:
        frame = gdb.newest_frame()
    except gdb.error:
        return None
    number = stacks.rank_at(int(frame.read_register("rsp")))
    if number is None:  # a thread of a rank, or a rank on a stack of its own
        images.look()
        frame = own_frame(None)
        number = images.at(frame.pc()).rank if frame is not None else None
    return number


class RunningRank(gdb.Function):
    """$_rank(): the rank that the selected thread runs; -1: it runs none."""

    def __init__(self):
        super().__init__("_rank")

    def invoke(self):
        if unwinder.follows:
            return shown.number
        number = running_rank()
        return -1 if number is None else number


class GoOnInRank(gdb.Command):
    """tmpi-go-on-in-rank: for the hooks of next and step: if a suspended rank is shown, lets it come back to its own code first."""

    def __init__(self):
        super().__init__("tmpi-go-on-in-rank", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if not unwinder.follows:
            return
        images.look()
        frame = own_frame(shown.number)
        if frame is None or frame.newer() is None:
            raise gdb.GdbError("rank %d is suspended, and nothing is known of where it goes on" % shown.number)
        place = frame.pc()
        frame.newer().select()
        gdb.execute("finish", to_string=True)
        if gdb.newest_frame().pc() != place:
            raise gdb.GdbError("stopped before rank %d has gone on" % shown.number)


def on_continue(event):
    unwinder.leave()


def on_stop(event):
    unwinder.leave()
    if images.rank is None:
        return
    number = running_rank()
    if number is not None and number != images.rank:
        print("[stopped in rank %d; `rank %d` shows it]" % (number, number))


def on_exit(event):
    unwinder.leave()
    stacks.forget()
    images.hidden, images.rank = False, None
    images.added = []


class GiveBack(gdb.Command):
    """Before gdb lets go of the process: the next debugger is to find all ranks' images."""

    def __init__(self):
        super().__init__("tmpi-give-back", gdb.COMMAND_OBSCURE)

    def invoke(self, argument, from_tty):
        if gdb.selected_inferior().pid != 0:
            unwinder.leave()
            images.show_all()


def install():
    gdb.unwinder.register_unwinder(None, unwinder, replace=True)
    gdb.frame_filters["tmpi suspended rank"] = OwnFrames()
    for kind in (Ranks, RankCommand, RunningRank, GoOnInRank, GiveBack):
        kind()
    for command in ("next", "step"):
        gdb.execute("define hook-%s\ntmpi-go-on-in-rank\nend" % command)
    for command in ("detach", "quit"):
        gdb.execute("define hook-%s\ntmpi-give-back\nend" % command)
    gdb.events.cont.connect(on_continue)
    gdb.events.stop.connect(on_stop)
    gdb.events.exited.connect(on_exit)
