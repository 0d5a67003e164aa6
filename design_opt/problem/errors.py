"""The errors of optimisation: a problem that cannot be worked on, and a checkpoint that cannot be used."""


class ProblemError(ValueError):
    """A problem is stated in a way that cannot be solved.

    The message names the variable, objective, constraint or key, the value received, what is allowed there, and
    what to do about it.
    """


class CheckpointError(RuntimeError):
    """A checkpoint cannot be read, written, or belongs to another problem; the message says what to do."""
