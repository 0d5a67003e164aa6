"""Which calls are worth programs: NumPy answers until what it has done would have paid for compiling them.

So the first batch does not wait for a compiler that the next ones may never make use of, and many batches do not stay
slow. At worst a process takes twice the time of the better way. What is solved part by part, as the stores of sweeps,
does not come here: there the number of cells alone decides, so that no part depends on what was solved before.
"""

from __future__ import annotations

import threading

from jaxmodal.arm.arm import Arm
from jaxmodal.batches.plan import FEW
from jaxmodal.runtime.devices import default_device, is_gpu
from jaxmodal.spatial.arms.arm import SpatialArm

#: links times modes times cells that take NumPy as long as the programs take to compile, nine seconds in the plane and
#: four in space
WORTH, WORTH_IN_SPACE = 4e6, 1e5
#: as many cells NumPy solves anyhow in space: the guess of the programs takes as long
FEW_IN_SPACE = 640


class Spent:
    """Work done by NumPy so far in this process, for arms of one kind and one number of links and modes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: dict[tuple[bool, int, int], float] = {}

    def in_numpy(self, arm: Arm | SpatialArm, modes: int, cells: int) -> bool:
        """Whether a batch of so many cells is better off in NumPy; counted if it is none of the small ones."""
        in_space = isinstance(arm, SpatialArm)
        if is_gpu(default_device()):
            return cells <= FEW
        if cells <= (FEW_IN_SPACE if in_space else FEW):
            return True
        key = in_space, arm.num_links, modes
        with self._lock:
            work = self._work.get(key, 0.0) + float(arm.num_links) * modes * cells
            self._work[key] = work
        return work <= (WORTH_IN_SPACE if in_space else WORTH)

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self._work.clear()


SPENT = Spent()
