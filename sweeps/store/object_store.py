"""Stores in a bucket of S3 or a compatible server, by addresses ``s3://bucket/name.zarr``.

The client is obstore: it can create objects only if they do not exist (If-None-Match), which claims need and fsspec
lacks, and it retries if a server throttles or a connection is lost. Credentials and the address of the server come
from environment variables ``AWS_...``, in every process that reads or writes.
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
#: number of attempts of a conditional write whose answer is lost
TRIES = 4
#: retries of the client, in number and time, if the server throttles, fails or cannot be reached
RETRIES: dict[str, Any] = {"max_retries": 10, "retry_timeout": datetime.timedelta(minutes=3)}
#: address of the credentials service of Amazon machines, used without credentials in the environment
_METADATA_SERVICE = "169.254.169.254"
#: most characters of the client's message in an error
_MOST_WORDS = 300


def store_at(address: str) -> S3:
    """Return the store at an address ``s3://bucket/name.zarr``.

    Raises
    ------
    StoreError
        If the address has no bucket or no name.
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
    """Convert errors of obstore, except missing objects, to a `StoreError` with a remedy."""
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
    """A store in a bucket, with errors that give remedies."""

    store: S3Store

    @property
    def address(self) -> str:
        """Address of the store, for messages."""
        return f"{SCHEME}{self.store.config.get('bucket', '')}/{self.store.prefix or ''}"

    def sizes_in(self, folder: str) -> dict[str, int]:
        """Return the size in bytes of each object whose key begins with the folder, by key."""
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
            # obstore does not retry it; in the end the object exists
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
