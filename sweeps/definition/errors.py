"""Errors of sweeps: an invalid definition, and an unusable store."""

from collections.abc import Iterator
from contextlib import contextmanager

from jaxmodal.runtime.errors import ArmError


class SweepError(ValueError):
    """The definition of a sweep is invalid.

    The message names the axis or key, the value received, what is allowed, and the remedy.
    """


class StoreError(RuntimeError):
    """A store of a sweep cannot be created, resumed, read or written; the message gives the remedy."""


@contextmanager
def about(what: str, kind: type[ValueError] = ArmError) -> Iterator[None]:
    """Convert an `ArmError`, or another ``kind``, inside the context to a `SweepError` that starts with ``what``."""
    try:
        yield
    except kind as error:
        raise SweepError(f"{what}: {error}") from error
