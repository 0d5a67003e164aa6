"""Zarr stores that fail, tear what they write, exit or report, for tests of interrupted runs."""

import os
import time

from zarr.storage import LocalStore


class CountingStore(LocalStore):
    """Counts what is written; at one count, interrupts in one way.

    Ways: "before" (nothing of this key is written), "torn" (half of its bytes), "after" (all of it).
    """

    def __init__(self, root, interrupt, at=-1, way="before"):
        super().__init__(root)
        self.interrupt, self.at, self.way = interrupt, at, way
        self.keys = []

    def with_read_only(self, read_only=False):
        return LocalStore(self.root, read_only=read_only) if read_only else self

    async def set(self, key, value):
        step = len(self.keys)
        self.keys.append(key)
        if step != self.at:
            await super().set(key, value)
            return
        if self.way == "after":
            await super().set(key, value)
        elif self.way == "torn":
            data = value.to_bytes()
            path = self.root / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data[: len(data) // 2])
        self.interrupt()


class ReportingStore(LocalStore):
    """Says on standard output what it is about to write, and when it is done.

    Pieces of chunks are written as the store of Zarr writes them, beside their place and then moved there, but
    slowly: in two halves with a pause between, so that a kill at any moment is likely to fall inside a write.
    """

    PAUSE = 0.004

    def with_read_only(self, read_only=False):
        return LocalStore(self.root, read_only=read_only) if read_only else self

    async def set(self, key, value):
        os.write(1, f"writing {key}\n".encode())
        if "/c." in key:
            self.write_slowly(self.root / key, value.to_bytes())
        else:
            await super().set(key, value)
        os.write(1, f"wrote {key}\n".encode())

    def write_slowly(self, path, data):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.slow.partial")
        with beside.open("wb") as file:
            file.write(data[: len(data) // 2])
            file.flush()
            time.sleep(self.PAUSE)
            file.write(data[len(data) // 2 :])
        beside.replace(path)
