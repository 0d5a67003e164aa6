"""Reading and atomic writing of single pieces of a store, as bytes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Any, Self

import zarr
from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import LocalStore, MemoryStore, StorePath, WrapperStore
from zarr.storage._common import make_store_path

from sweeps.definition.errors import StoreError

Location = str | Path | Store

#: error codes of file systems without hard links
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

#: seconds after which a half-written file counts as abandoned
_LEFTOVER = 3600.0
#: unique parts of the names of half-written files, different in children and on other machines
_PROCESS, _NUMBERS = uuid.uuid4().hex, itertools.count()
_NEW = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
#: number of simultaneous requests to a server
_READ_AT_ONCE = 64


def read_piece(location: Location, key: str) -> bytes | None:
    """Return the bytes of a piece; None if it does not exist."""
    try:
        found = sync(_at(location, key, "r").get(default_buffer_prototype()))
    except FileNotFoundError:  # the folder does not exist
        return None
    return None if found is None else bytes(found.to_bytes())


def write_piece(location: Location, key: str, data: bytes, *, replace: bool = True) -> None:
    """Write the bytes of a piece atomically; with ``replace`` False only if it does not exist."""
    place = _at(location, key, "a")
    buffer = default_buffer_prototype().buffer.from_bytes(data)
    try:
        sync(place.set(buffer) if replace else place.set_if_not_exists(buffer))
    except OSError as error:
        if replace or error.errno not in _NO_LINKS or not isinstance(place.store, LocalStore):
            raise
        # Zarr needs hard links for this; without them the write is exclusive, but a kill may leave a partial piece
        with (
            contextlib.suppress(FileExistsError),
            (place.store.root / place.path).open("xb") as file,
        ):
            file.write(data)


def write_pieces(location: Location, pieces: Iterable[tuple[str, bytes]]) -> None:
    """Write pieces one after the other, each atomically, replacing existing ones."""
    root, plainly = _root(location), not isinstance(location, Store)
    if root is not None and (plainly or (type(location) is LocalStore and not location.read_only)):
        for key, data in pieces:
            _write_file(f"{root}/{key}", data)
    else:
        sync(_written(_at(location, "", "a").store, pieces))


async def _written(store: Store, pieces: Iterable[tuple[str, bytes]]) -> None:
    """Write all pieces in one task of Zarr's thread, because a switch to it takes longer than a small write."""
    make = default_buffer_prototype().buffer.from_bytes
    for key, data in pieces:
        await store.set(key, make(data))


def _write_file(path: str, data: bytes) -> None:
    """Write a temporary file, then move it into place; like Zarr, without its threads."""
    beside = f"{path}.{_PROCESS}-{os.getpid()}-{next(_NUMBERS)}.partial"
    try:
        try:
            file = os.open(beside, _NEW, 0o666)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            file = os.open(beside, _NEW, 0o666)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(file, left) :]
        finally:
            os.close(file)
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def read_pieces(location: Location, keys: Iterable[str]) -> Iterator[bytes | None]:
    """Yield the bytes of pieces in order: None for missing ones, empty bytes for files that cannot be read."""
    root = _root(location)
    if root is not None:
        yield from (_file(f"{root}/{key}") for key in keys)
        return
    store = _at(location, "", "r").store
    waiting = iter(keys)
    while some := list(itertools.islice(waiting, _READ_AT_ONCE)):
        yield from sync(_all_read(store, some))


def _file(path: str) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    except OSError:
        return b""


async def _all_read(store: Store, keys: Sequence[str]) -> list[bytes | None]:
    prototype = default_buffer_prototype()
    found = await asyncio.gather(*(store.get(key, prototype) for key in keys))
    return [None if buffer is None else bytes(buffer.to_bytes()) for buffer in found]


def read_listed(location: Location, folder: str, keys: Iterable[str]) -> Iterator[bytes | None]:
    """Yield `read_pieces` of a folder with possibly few pieces: only listed ones are requested from a server."""
    if _root(location) is not None:
        yield from read_pieces(location, keys)
        return
    there, wanted = _listed(location, folder), list(keys)
    found = read_pieces(location, (key for key in wanted if key in there))
    for key in wanted:
        yield next(found) if key in there else None


def sizes_in(location: Location, folders: Iterable[str]) -> Callable[[str], int | None]:
    """Return a function from keys to sizes in bytes, for pieces in some folders; None for missing pieces.

    Sizes of files are read when needed, so that they take no memory; a server lists all sizes at once.
    """
    root = _root(location)
    if root is not None:
        return lambda key: _size(f"{root}/{key}")
    return {key: n for folder in folders for key, n in _listed(location, folder).items()}.get


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def _listed(location: Location, folder: str) -> dict[str, int]:
    """Return the pieces in a folder of a server, with their sizes."""
    store = _at(location, "", "r").store
    listed = getattr(store, "sizes_in", None)  # buckets list names with sizes
    return listed(folder) if listed is not None else sync(_all_sizes(store, folder))


async def _all_sizes(store: Store, folder: str) -> dict[str, int]:
    return {key: await store.getsize(key) async for key in store.list_prefix(f"{folder}/")}


def folder_of(location: Location) -> Path | None:
    """Return the folder of a store; None if it is not in a file system."""
    root = _root(location)
    return None if root is None else Path(root)


def _root(location: Location) -> str | None:
    if isinstance(location, LocalStore):
        return str(location.root)
    found = str(location)
    return (
        found
        if isinstance(location, Path) or (isinstance(location, str) and "://" not in found)
        else None
    )


def inside(location: Location) -> str | Path | Store:
    """Return the store inside its wrappers; the address of a bucket becomes its store."""
    found: str | Path | Store = location if isinstance(location, Path) else plain(location)
    while isinstance(found, WrapperStore):
        found = found._store
    return found


def remove_leftovers(root: Path) -> None:
    """Remove half-written files, except those that another process may still be writing."""
    # unlike a glob, this skips folders that another process removes meanwhile
    for folder, _, names in os.walk(root):
        for leftover in (Path(folder) / name for name in names if name.endswith(".partial")):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - leftover.stat().st_mtime > _LEFTOVER:
                    leftover.unlink()


def in_memory(location: Location) -> bool:
    """Return True if a store is in the memory of this process, where no other process can write."""
    store = inside(location)
    return isinstance(store, MemoryStore) or str(store).startswith("memory:")


class Hidden(WrapperStore[Store]):
    """A read-only view of a store in which some pieces seem to be missing."""

    def __init__(self, store: Store, keys: Set[str] = frozenset()) -> None:
        super().__init__(store)
        self.keys = keys

    def _with_store(self, store: Store) -> Self:
        return type(self)(store, self.keys)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        return None if key in self.keys else await super().get(key, prototype, byte_range)

    async def exists(self, key: str) -> bool:
        return key not in self.keys and await super().exists(key)


def hiding(location: Location, keys: Set[str]) -> Location:
    """Return a location for reading, without some of its pieces."""
    return Hidden(_at(location, "", "r").store, keys) if keys else plain(location)


def _at(location: Location, key: str, mode: Any) -> StorePath:
    root: StorePath = sync(make_store_path(plain(location), mode=mode))
    return root / key


def open_group(location: Location, mode: Any) -> zarr.Group:
    """Open the root as a Zarr group, every array by its own metadata."""
    return zarr.open_group(plain(location), mode=mode, use_consolidated=False)


def plain(location: Location) -> str | Store:
    """Return a location in a form that Zarr accepts.

    Raises
    ------
    StoreError
        If it is the address of a bucket, and obstore is missing or the address is invalid.
    """
    if isinstance(location, str) and location.startswith("s3://"):
        try:
            from sweeps.store.object_store import store_at
        except ImportError as error:
            raise StoreError(
                f"store {location}: stores in a bucket need obstore; install jaxmodal[s3]."
            ) from error
        return store_at(location)
    return str(location) if isinstance(location, Path) else location


def text_of(location: Location) -> str:
    """Return the name of a location for messages."""
    return f"store {location}"


def place_of(location: Location, key: str) -> str:
    """Return the name of a piece for messages: the path of its file, if it is a file."""
    root = location if isinstance(location, (str, Path)) else getattr(location, "root", location)
    return f"{str(root).rstrip('/')}/{key}"


@contextlib.contextmanager
def explained(location: Location) -> Iterator[None]:
    """Convert an error of the file system to a `StoreError` with a remedy."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            remedy = "free space and run the same command again: shards that are complete are kept"
        else:
            remedy = "give a folder that can be written; shards that are complete are kept"
        raise StoreError(f"{text_of(location)}: cannot be written ({reason}); {remedy}.") from error
