"""Limit of attempts for a shard that ends the processes computing it (lack of memory, for one); claims and dask."""

from __future__ import annotations

#: number of processes that may end while they compute a shard; the shard is then given up, and the run continues
MOST = 4


class GivenUpError(RuntimeError):
    """A shard is given up, because several processes ended one after the other while they computed it."""

    def __init__(self, times: int = MOST) -> None:
        super().__init__(times)
        self.times = times

    def __str__(self) -> str:
        return (
            f"{self.times} processes ended one after the other while they had it, as where memory runs out; what they "
            "wrote may say more"
        )
