"""The errors of optimisation: a problem that cannot be worked on, and a checkpoint that cannot be used."""

from collections.abc import Iterator
from contextlib import contextmanager


class ProblemError(ValueError):
    """A problem is stated in a way that cannot be solved.

    The message names the variable, objective, constraint or key, the value received, what is allowed there, and
    what to do about it.
    """


class CheckpointError(RuntimeError):
    """A checkpoint cannot be read, written, or belongs to another problem; the message says what to do."""


@contextmanager
def about(what: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn errors of a kind, `ArmError` among them, into a `ProblemError` that says first what they are about."""
    try:
        yield
    except kind as error:
        raise ProblemError(f"{what}: {error}") from error
