"""asyncio: an event loop for each rank, with timers, threads, children, sockets and signals."""

import asyncio
import os
import signal
import sys

from ranks import rank, step


async def tick(name, count):
    for _ in range(count):
        await asyncio.sleep(0.002)
    return name


async def talk():
    async def answer(reader, writer):
        writer.write(b"rank " + await reader.readline())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"%d\n" % rank)
    line = await reader.readline()
    writer.close()
    server.close()
    return line


async def main():
    assert await asyncio.gather(*(tick(i, 5) for i in range(5))) == list(range(5))
    assert await asyncio.to_thread(lambda: rank * 2) == rank * 2
    assert await talk() == b"rank %d\n" % rank
    child = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", f"print({rank} + 1)", stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate()
    assert int(out) == rank + 1 and child.returncode == 0, (out, child.returncode)
    shell = await asyncio.create_subprocess_shell(f"exit {rank % 7}")
    assert await shell.wait() == rank % 7
    called = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, called.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(called.wait(), 60)
    try:
        await asyncio.wait_for(asyncio.sleep(3600), 0.01)
        raise AssertionError("no timeout")
    except asyncio.TimeoutError:
        pass


for _ in range(2):
    asyncio.run(main())
    step()
if rank == 0:
    print("right")
