"""Check that JAX computes in double precision, on which all results depend."""

import jax


class X64DisabledError(RuntimeError):
    """Raised if JAX's 64-bit mode is off, because results would not be reliable."""


def require_x64() -> None:
    """Raise an error if JAX's 64-bit mode is off.

    The library never enables it: the setting is global to the process, and it must be made before the first array
    exists.

    Raises
    ------
    X64DisabledError
        If ``jax_enable_x64`` is off. The message has the line that enables it.
    """
    if not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise X64DisabledError(
            "jaxmodal needs double precision, but JAX's 64-bit mode is off. "
            "Put this at the top of the program:\n"
            '    import jax; jax.config.update("jax_enable_x64", True)   # first, before any array'
        )
