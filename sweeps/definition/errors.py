"""The errors of sweeps: a wrong definition, and a store that cannot be used."""

from collections.abc import Iterator
from contextlib import contextmanager

from jaxmodal.runtime.errors import ArmError


class SweepError(ValueError):
    """A sweep is defined in a way that cannot be computed.

    The message names the axis or key, the value received, what is allowed there, and what to do
    about it.
    """


class StoreError(RuntimeError):
    """A store of a sweep cannot be created, resumed, read or written; the message says what to do."""


@contextmanager
def about(what: str, kind: type[ValueError] = ArmError) -> Iterator[None]:
    """Turn an `ArmError`, or another kind of error, into a `SweepError` that says first what it is about."""
    try:
        yield
    except kind as error:
        raise SweepError(f"{what}: {error}") from error
