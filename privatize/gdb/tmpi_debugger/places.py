"""Where suspended ranks are in their programs, without gdb's unwinding: it takes milliseconds, and most ranks of a job are where another one is. A
rank is there, too, if all return addresses down to the other's own frame lie in its stack at the same depths."""

import functools

from .images import images
from .memory import read, read_bytes
from .ranks import STACK_POINTER

MOST = 256  # places that are known at a time; each rank is compared with them, the latest that was right first


class Place:
    def __init__(self, returns, text):
        self.returns, self.text = returns, text  # [(depth, address in the image or of the process)]
        self.depth = max(depth for depth, _ in returns) + 8

    def is_of(self, stack, number):
        return all(of_any_rank(int.from_bytes(stack[depth : depth + 8], "little"), number) == address for depth, address in self.returns)


@functools.lru_cache(maxsize=None)
def name_at(address):
    return next(image.name for image in images.sorted if image.name_at == address)


def of_any_rank(address, number):
    """The same for all ranks that are there."""
    image = images.at(address)
    return (name_at(image.name_at), address - image.base) if image is not None and image.rank == number else address


class Places:
    """While the process stands still."""

    def __init__(self):
        self.known = []
        name_at.cache_clear()

    def of(self, number, registers):
        """What has been learnt of the place of rank `number`; None: it is somewhere else."""
        start = registers[STACK_POINTER]
        stack = b""
        for i, place in enumerate(self.known):
            if len(stack) < place.depth:
                stack = read_bytes(start, place.depth)
            if place.is_of(stack, number):
                self.known.insert(0, self.known.pop(i))
                return place.text
        return None

    def learn(self, number, registers, own, text):
        """`own` is the frame of the rank's own code that has been found; its stack is shown."""
        start = registers[STACK_POINTER]
        returns = []
        frame = own
        while frame is not None and frame.level() > 1:
            at, address = int(frame.read_register("rsp")) - 8, frame.pc()
            if at >= start and read(at) == address:
                returns.append((at - start, of_any_rank(address, number)))
            elif frame == own:
                return  # not by its return address
            frame = frame.newer()
        if returns and len(self.known) < MOST:
            self.known.insert(0, Place(returns, text))
