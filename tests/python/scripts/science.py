"""scipy, h5py and matplotlib."""

import os
import tempfile

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg
import scipy.special

from ranks import rank, step

assert abs(scipy.integrate.quad(np.sin, 0, np.pi)[0] - 2) < 1e-9
assert abs(scipy.optimize.brentq(lambda x: x * x - rank - 1, 0, rank + 2) - (rank + 1) ** 0.5) < 1e-9
matrix = scipy.sparse.diags([-1, 2 + rank, -1], [-1, 0, 1], shape=(100, 100), format="csc")
step()
x = scipy.sparse.linalg.spsolve(matrix, np.ones(100))
assert np.allclose(matrix @ x, 1)
step()
values = scipy.sparse.linalg.eigsh(matrix, 3, return_eigenvectors=False)
assert np.allclose(np.sort(values), np.sort(np.linalg.eigvalsh(matrix.toarray()))[-3:])
assert np.isclose(scipy.special.gamma(6), 120)
with tempfile.TemporaryDirectory() as home:
    name = os.path.join(home, "data.h5")
    with h5py.File(name, "w") as file:
        file["x"] = x
        file.attrs["rank"] = rank
        step()
    with h5py.File(name, "r") as file:
        assert (file["x"][:] == x).all() and file.attrs["rank"] == rank
    step()
    matplotlib.rcParams["lines.linewidth"] = 1 + rank
    figure, axes = plt.subplots()
    (line,) = axes.plot(x)
    step()
    assert line.get_linewidth() == 1 + rank
    axes.set_title(f"rank {rank}")
    figure.savefig(os.path.join(home, "figure.png"))
    with open(os.path.join(home, "figure.png"), "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    plt.close(figure)
if rank == 0:
    print("right")
