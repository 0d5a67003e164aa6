"""Choice between NumPy and compiled programs: NumPy is used until its work exceeds the cost of compilation.

So a single batch does not wait for the compiler, and many batches are fast. At worst a process takes twice the time of
the better choice. Batches solved in parts (stores of sweeps) do not use this rule: there only the number of cells
decides, so that no part depends on earlier ones.
"""

from __future__ import annotations

import threading

from jaxmodal.batches.kinds import PLANS
from jaxmodal.batches.plan import FEW
from jaxmodal.runtime.devices import default_device, is_gpu
from jaxmodal.spatial.arms.arm import AnyArm


class Spent:
    """Work of NumPy in this process so far, by kind of plans, number of links and number of modes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: dict[tuple[type, int, int], float] = {}

    def in_numpy(self, arm: AnyArm, modes: int, cells: int) -> bool:
        """Return True if NumPy should solve a batch of ``cells``; its work is added unless the batch is small."""
        plans = PLANS.of(arm)
        if is_gpu(default_device()):
            return cells <= FEW
        if cells <= plans.always:
            return True
        key = plans, arm.num_links, modes
        with self._lock:
            work = self._work.get(key, 0.0) + float(arm.num_links) * modes * cells
            self._work[key] = work
        return bool(work <= plans.worth)

    def forget(self) -> None:
        """Reset the work to zero."""
        with self._lock:
            self._work.clear()


SPENT = Spent()
