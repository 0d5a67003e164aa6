"""How often a shard may end the process that computes it, as where memory runs out: with claims and with dask alike."""

from __future__ import annotations

#: so many processes may end while they have a shard; then it is given up, and the rest goes on
MOST = 4


class GivenUpError(RuntimeError):
    """A shard is given up: so many processes have ended one after the other while they had it."""

    def __init__(self, times: int = MOST) -> None:
        super().__init__(times)
        self.times = times

    def __str__(self) -> str:
        return (
            f"{self.times} processes ended one after the other while they had it, as where memory runs out; what they "
            "wrote may say more"
        )
