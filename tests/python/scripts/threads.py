"""Threads of a rank: its own interpreter lock, in which ranks of one worker do not meet."""

import concurrent.futures
import queue
import threading
import time

from ranks import rank, step

local = threading.local()
local.value = rank
seen = []


def work(number):
    local.value = (rank, number)
    for _ in range(20):
        seen.append(sum(range(100)))
        time.sleep(0.0005)
    assert local.value == (rank, number)


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
step()  # they run on while the rank waits in MPI
for thread in threads:
    thread.join()
assert len(seen) == 80 and local.value == rank
assert threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
step()

items, answers = queue.Queue(), queue.Queue()


def serve():
    while (item := items.get()) is not None:
        answers.put(item * rank)


server = threading.Thread(target=serve, daemon=True)
server.start()
for i in range(50):
    items.put(i)
    assert answers.get(timeout=60) == i * rank
items.put(None)
server.join(60)
step()

with concurrent.futures.ThreadPoolExecutor(3) as pool:
    assert list(pool.map(lambda x: x + rank, range(30))) == [x + rank for x in range(30)]

computing = True


def compute():
    number = 0
    while computing:
        number += 1


# It gives up the interpreter's lock only where it is asked for it, after a wait that has run out.
busy = threading.Thread(target=compute)
busy.start()
time.sleep(0.01)
computing = False
busy.join()
step()

event = threading.Event()
timer = threading.Timer(0.01, event.set)
timer.start()
assert event.wait(60)
condition = threading.Condition()
with condition:
    assert not condition.wait(0.01)
barrier = threading.Barrier(3)
parties = [threading.Thread(target=barrier.wait) for _ in range(2)]
for party in parties:
    party.start()
barrier.wait(60)
for party in parties:
    party.join()

step()
# One that is a daemon is there when the rank ends.
threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
if rank == 0:
    print("right")
