"""The one precondition of every number here: JAX computes in double precision."""

import jax


class X64DisabledError(RuntimeError):
    """Double precision is off in JAX, so no frequency here could be trusted."""


def require_x64() -> None:
    """Refuse to go on while JAX's 64-bit mode is off.

    The library never switches it on by itself: the setting is global to the process, and it
    must be made before the first array exists.

    Raises
    ------
    X64DisabledError
        While ``jax_enable_x64`` is off. The message holds the line that mends it.
    """
    if not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise X64DisabledError(
            "jaxmodal needs double precision, but JAX's 64-bit mode is off. "
            "Put this at the top of the program:\n"
            '    import jax; jax.config.update("jax_enable_x64", True)   # first, before any array'
        )
