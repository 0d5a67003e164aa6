"""Stores in a bucket of S3 or of a server that speaks its language, by addresses ``s3://bucket/name.zarr``.

The client is obstore: it writes only where nothing lies (If-None-Match), which claims need and fsspec cannot, and
tries again by itself where a server throttles or a connection is lost. Credentials and the address of the server
come from the variables ``AWS_...`` of the environment, in every process that reads or writes.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import Any, Self
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError, GenericError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store
from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import ObjectStore

from sweeps.definition.errors import StoreError

SCHEME = "s3://"
#: how often a write that must not be repeated blindly is tried where its answer is lost
TRIES = 4
#: how often and how long the client itself tries again where the server throttles, fails or cannot be reached
RETRIES: dict[str, Any] = {"max_retries": 10, "retry_timeout": datetime.timedelta(minutes=3)}
#: what machines of Amazon ask for credentials when the environment has none
_METADATA_SERVICE = "169.254.169.254"
#: how much of the words of a client an error shows
_MOST_WORDS = 300


def store_at(address: str) -> S3:
    """The store at an address ``s3://bucket/name.zarr``.

    Raises
    ------
    StoreError
        If the address names no bucket, or nothing in it.
    """
    settings = {key: value for key, value in os.environ.items() if key.startswith("AWS_")}
    return _store_at(address, frozenset(settings.items()))


@functools.lru_cache(maxsize=16)  # connections are kept open
def _store_at(address: str, settings: frozenset[tuple[str, str]]) -> S3:
    parts = urlsplit(address)
    bucket, name = parts.netloc, parts.path.strip("/")
    if not bucket or not name:
        raise StoreError(f"store {address}: must be s3://BUCKET/NAME.zarr.")
    endpoint = next((v for key, v in settings if key in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")), "")
    client: Any = {"allow_http": endpoint.startswith("http:")}
    with told(address):
        retries: Any = RETRIES
        return S3(S3Store(bucket, prefix=name, client_options=client, retry_config=retries))


@contextlib.contextmanager
def told(place: object) -> Iterator[None]:
    """Turn what obstore raises, but for an object that is not there, into a `StoreError` that says what to do."""
    kept = "shards that are complete are kept"
    try:
        yield
    except FileNotFoundError as error:
        if "NoSuchBucket" not in str(error):
            raise
        raise StoreError(
            f"store {place}: there is no such bucket; make it, or look at AWS_ENDPOINT_URL and AWS_REGION."
        ) from error
    except BaseError as error:
        words = " ".join(str(error).split("Debug source")[0].split())[:_MOST_WORDS]
        if isinstance(error, PermissionDeniedError | UnauthenticatedError):
            raise StoreError(
                f"store {place}: the server refused it ({words}); look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
                "AWS_SESSION_TOKEN and AWS_REGION, and whether they may read, write, list and delete there."
            ) from error
        if _METADATA_SERVICE in words:
            raise StoreError(
                f"store {place}: there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (of a "
                'profile of the AWS tools: eval "$(aws configure export-credentials --format env)"), or, to read a '
                "public bucket, AWS_SKIP_SIGNATURE=true."
            ) from error
        raise StoreError(
            f"store {place}: the server cannot be reached, or failed however often it was asked ({words}); {kept}, the "
            "same command goes on."
        ) from error


class S3(ObjectStore[Any]):
    """A store in a bucket whose errors say what to do."""

    store: S3Store

    @property
    def address(self) -> str:
        """How messages name it."""
        return f"{SCHEME}{self.store.config.get('bucket', '')}/{self.store.prefix or ''}"

    def sizes_in(self, folder: str) -> dict[str, int]:
        """How many bytes each object has whose key begins with the folder, by its key."""
        with told(self.address):
            pages = obstore.list(self.store, prefix=folder)
            return {entry["path"]: entry["size"] for page in pages for entry in page}

    def with_read_only(self, read_only: bool = False) -> Self:
        return type(self)(self.store, read_only=read_only)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        with told(self.address):
            return await super().get(key, prototype, byte_range)

    async def get_partial_values(
        self,
        prototype: BufferPrototype,
        key_ranges: Iterable[tuple[str, ByteRequest | None]],
    ) -> list[Buffer | None]:
        with told(self.address):
            return await super().get_partial_values(prototype, key_ranges)

    async def exists(self, key: str) -> bool:
        with told(self.address):
            return await super().exists(key)

    async def set(self, key: str, value: Buffer) -> None:
        with told(self.address):
            await super().set(key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        with told(self.address):
            # obstore does not repeat it; in the end something lies there
            for _ in range(TRIES - 1):
                with contextlib.suppress(GenericError):
                    return await super().set_if_not_exists(key, value)
            await super().set_if_not_exists(key, value)

    async def delete(self, key: str) -> None:
        with told(self.address):
            await super().delete(key)

    async def _list(self, prefix: str | None = None) -> AsyncGenerator[Any, None]:
        with told(self.address):
            async for found in super()._list(prefix):
                yield found
