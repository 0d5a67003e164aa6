"""Check of double-double arithmetic against exact fractions, once for NumPy and for each backend of JAX.

Double-double computes rounding errors exactly. A compiler that applies the algebra of real numbers to floating-point
numbers (``--xla_cpu_enable_fast_math``) concludes that they are zero, and 16 of 32 digits are left, with no visible
effect on counts and certificates. Therefore each kind of operation is tested on numbers with exactly known results.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax
import jaxlib.version
import numpy as np

from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.runtime.devices import default_device
from jaxmodal.runtime.namespace import Array, is_traced, on_host

#: relative error that each operation stays below: it was 5e-32 at most; one lost rounding error makes it 1e-17 or more
_ALLOWED = 1e-30
#: numbers that each operation is tried on, as many as vectors of a processor hold, and more
_LANES = 16


class InexactArithmeticError(ArithmeticError):
    """Raised if double-double arithmetic does not have its 32 digits; the message gives the place and the reason.

    Possible causes are a version of JAX, or compiler flags, that change sums or products.
    """


def require_exact(x: Array) -> None:
    """Raise an error if double-double arithmetic is not exact; a table lookup after the first call.

    Parameters
    ----------
    x : Array
        An array of the computation: of NumPy, of JAX, or traced; a traced one may run on the default device or on a
        CPU.

    Raises
    ------
    InexactArithmeticError
        If NumPy, or the backend of JAX, fails the check. The message gives the operation, the error and a remedy.
    """
    if on_host(x):
        fault, where = _fault_of_numpy(), f"in NumPy {np.__version__}"
        remedy = "call jaxmodal before, or without, what changes how this process rounds"
        if fault:
            raise _error(where, fault, remedy)
        return
    device = default_device()
    platforms = {device.platform, "cpu"} if is_traced(x) else {d.platform for d in x.devices()}
    for platform in sorted(platforms):
        fault = _fault_of_backend(platform)
        if fault:
            where = f"on the backend {platform!r} of jax {jax.__version__}, jaxlib {jaxlib.version.__version__}"
            remedy = (
                "take flags that relax arithmetic, such as --xla_cpu_enable_fast_math, out of XLA_FLAGS; if there are"
                " none, use another version of jaxlib. Single arms outside of jit and vmap are computed in NumPy"
            )
            raise _error(where, fault, remedy)


def _error(where: str, fault: str, remedy: str) -> InexactArithmeticError:
    return InexactArithmeticError(
        f"double-double arithmetic fails {where}: {fault}. No number that rests on it is given. Remedy: {remedy}"
    )


@functools.cache
def _fault_of_numpy() -> str:
    return _fault(_operations)


def _fault_of_backend(platform: str) -> str:
    with _ASKING:  # threads that trace side by side would each compile the check
        return _asked(platform)


_ASKING = threading.Lock()


@functools.cache
def _asked(platform: str) -> str:
    try:
        chosen = default_device()  # that of a caller's thread, if it is of this kind
        device = chosen if chosen.platform == platform else jax.local_devices(backend=platform)[0]
    except RuntimeError:  # not there, as by JAX_PLATFORMS: nothing can run on it
        return ""

    def double_double_check(*parts: Array) -> Any:
        return _operations(*parts)

    def computed(*parts: np.ndarray) -> Any:
        # in two steps: a plain call would become a part of what is being traced
        return jax.device_get(jax.jit(double_double_check).lower(*parts).compile()(*parts))

    with jax.default_device(device):
        return _fault(computed)


def _operations(
    a_hi: Array, a_lo: Array, b_hi: Array, b_lo: Array
) -> dict[str, tuple[Array, Array]]:
    """Return the results of the arithmetic operations of `programs.operated` for a > 0 and b."""
    a, b = DoubleDouble(a_hi, a_lo), DoubleDouble(b_hi, b_lo)
    results = {"sum": a + b, "product": a * b, "quotient": a / b, "root": dd.sqrt(a)}
    return {name: (x.hi, x.lo) for name, x in results.items()}


def _fault(operations: Callable[..., dict[str, tuple[Array, Array]]]) -> str:
    """Return the operation with the largest error, if that is more than allowed; otherwise an empty string."""
    a, b = _numbers()
    found = operations(a.hi, a.lo, b.hi, b.lo)
    x, y = _fractions(a.hi, a.lo), _fractions(b.hi, b.lo)
    exact = {
        "sum": [p + q for p, q in zip(x, y, strict=True)],
        "product": [p * q for p, q in zip(x, y, strict=True)],
        "quotient": [p / q for p, q in zip(x, y, strict=True)],
    }
    errors = {name: _largest_error(_fractions(*found[name]), exact[name]) for name in exact}
    errors["root"] = _largest_error([r * r for r in _fractions(*found["root"])], x) / 2
    worst = max(errors, key=errors.__getitem__)
    if errors[worst] <= _ALLOWED:
        return ""
    return f"a {worst} is off by {errors[worst]:.1g} of its size, where {_ALLOWED:.0g} is allowed"


def _numbers() -> tuple[DoubleDouble, DoubleDouble]:
    """Return operands with all bits in use, of either sign and many sizes.

    Some sums cancel except for their last digits.
    """
    k = np.arange(1.0, _LANES + 1.0)
    share = np.modf(np.outer([0.6180339887498949, 0.4142135623730951, 0.7320508075688772], k))[0]
    a = np.ldexp(1.0 + share[0], (k - 5.0).astype(int))
    b = np.where(k % 2.0 == 0.0, 1.0, -1.0) * np.ldexp(1.0 + share[1], (k % 7.0).astype(int))
    near = -a * (1.0 + np.ldexp(share[2], -40))
    b = np.where(k % 4.0 == 0.0, near, b)
    # the lower parts below half a unit in the last place of the others
    return DoubleDouble(a, np.ldexp(a * share[1], -54)), DoubleDouble(
        b, np.ldexp(b * share[2], -54)
    )


def _fractions(hi: Array, lo: Array) -> list[Fraction]:
    """Return the numbers as fractions; values that are not finite become zeros, which are not among the results."""
    parts = np.array([hi, lo])
    parts[:, ~np.isfinite(parts).all(axis=0)] = 0.0
    return [Fraction(h) + Fraction(low) for h, low in parts.T.tolist()]


def _largest_error(found: list[Fraction], exact: list[Fraction]) -> float:
    """Return the largest relative error."""
    return max(float(abs(f / e - 1)) for f, e in zip(found, exact, strict=True))
