"""multiprocessing: workers of a rank's own, by fork, spawn and forkserver."""

import concurrent.futures
import multiprocessing
import os


def square(x):
    return x * x


def fill(queue, connection, value, number):
    queue.put(number)
    connection.send({"number": number, "pid": os.getpid()})
    with value.get_lock():
        value.value += number


def check(method, rank):
    context = multiprocessing.get_context(method)
    queue, value = context.Queue(), context.Value("i", 0)
    ours, theirs = context.Pipe()
    processes = [context.Process(target=fill, args=(queue, theirs, value, rank + i)) for i in range(2)]
    for process in processes:
        process.start()
    assert sorted(queue.get(timeout=120) for _ in processes) == [rank, rank + 1]
    assert sorted(ours.recv()["number"] for _ in processes) == [rank, rank + 1]
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    assert value.value == 2 * rank + 1
    with context.Pool(2) as pool:
        assert pool.map(square, range(20)) == [x * x for x in range(20)]
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(square, range(5))) == [0, 1, 4, 9, 16]


if __name__ == "__main__":
    from ranks import rank, step

    for kind in "fork", "spawn", "forkserver":
        check(kind, rank)
        step()
    from multiprocessing import shared_memory

    block = shared_memory.SharedMemory(create=True, size=4096)
    block.buf[:4] = bytes([rank] * 4)
    step()
    again = shared_memory.SharedMemory(name=block.name)
    assert bytes(again.buf[:4]) == bytes([rank] * 4)
    again.close()
    block.close()
    block.unlink()
    if rank == 0:
        print("right")
