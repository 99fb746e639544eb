"""numpy, with the BLAS that it is linked with."""

import concurrent.futures
import tempfile

import numpy as np

from ranks import rank, step, total

np.random.seed(rank)
first = np.random.rand(5)
generator = np.random.default_rng(rank)
np.set_printoptions(precision=3 + rank % 5)
np.seterr(divide="raise" if rank % 2 else "ignore")
step()
again = np.random.RandomState(rank)
assert (again.rand(5) == first).all()
assert np.random.rand() == again.rand()
assert np.get_printoptions()["precision"] == 3 + rank % 5
try:
    np.float64(1) / np.float64(0)
    assert rank % 2 == 0
except FloatingPointError:
    assert rank % 2 == 1
a = generator.standard_normal((200, 200)) + 20 * np.eye(200)
b = a @ np.linalg.inv(a)
assert np.allclose(b, np.eye(200))
values = np.linalg.eigvalsh(a + a.T)
assert np.isclose(values.sum(), 2 * np.trace(a))
step()
assert np.allclose(np.fft.ifft(np.fft.fft(a)), a)
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    assert all(np.allclose(product, a @ a) for product in pool.map(lambda _: a @ a, range(6)))
with tempfile.NamedTemporaryFile(suffix=".npy") as file:
    np.save(file.name, a)
    assert (np.load(file.name, mmap_mode="r") == a).all()
assert total(int(np.arange(10).sum())) % 45 == 0
if rank == 0:
    print("right")
