"""The errors of sweeps: a wrong definition, and a store that cannot be used."""


class SweepError(ValueError):
    """A sweep is defined in a way that cannot be computed.

    The message names the axis or key, the value received, what is allowed there, and what to do
    about it.
    """


class StoreError(RuntimeError):
    """A store of a sweep cannot be created, resumed, read or written; the message says what to do."""
