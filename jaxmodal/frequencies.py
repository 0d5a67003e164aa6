"""Certified natural frequencies of an arm: the public entry points."""

from __future__ import annotations

import dataclasses
import math
import numbers

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

from jaxmodal.arm import Arm, BeamArrays, invalid_values
from jaxmodal.beams import Theory, prepared
from jaxmodal.certificate import TOLERANCE, Confirmation, confirm
from jaxmodal.condensation import Evaluation, evaluate, log_at_zero
from jaxmodal.frequency_derivatives import with_derivative
from jaxmodal.joints import number_of_hinges
from jaxmodal.modal_mass import quadrature_size
from jaxmodal.precision import require_x64
from jaxmodal.root_search import find_brackets, grid_trials
from jaxmodal.status import Status, UncertifiedError

_EPS = 2.0**-52
#: relative width to which each mode is enclosed in double-double, and the rounds allowed for it
_WIDTH = 4.0 * _EPS
_MAX_ROUNDS = 300
#: frequencies of one count_below call are evaluated in pieces of this size
_COUNT_CHUNK = 1024


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NaturalFrequencies:
    """Natural frequencies of one arm (or, with leading axes, of a batch), each with its certificate.

    Attributes
    ----------
    omega : Array, shape (..., K)
        Angular frequencies in rad/s, ascending, repeated by multiplicity. NaN where the input is invalid.
    status : Array, shape (..., K)
        `Status` codes.
    count_below, count_above : Array, shape (..., K)
        J, the number of natural frequencies below the lower and below the upper end of ``bracket``.
    bracket : Array, shape (..., K, 2)
        The two frequencies in rad/s at which the counts were taken, at most 1e-12 (relative) from the group.
    group : Array, shape (..., K)
        Index of the first mode of this mode's group; modes closer than 1e-12 form one group.
    residual_ratio : Array, shape (..., K)
        Relative error that the determinant at ``omega`` suggests, in units of 2.2e-16.
    evaluations : Array, shape (...)
        Evaluations of determinant and count.
    theory : str
        Name of the theory.
    by_sign_changes : Array, shape (..., K), or None
        True where the proof is one count above all modes and as many changes of sign of the determinant below it,
        one in the bracket; otherwise, and where this is None, counts were taken at both ends of the bracket.
    """

    omega: Array
    status: Array
    count_below: Array
    count_above: Array
    bracket: Array
    group: Array
    residual_ratio: Array
    evaluations: Array
    theory: str = dataclasses.field(metadata={"static": True})
    by_sign_changes: Array | None = None

    @property
    def frequencies_hz(self) -> Array:
        """``omega / (2 pi)`` in Hz."""
        return self.omega / (2.0 * math.pi)

    @property
    def certified(self) -> Array:
        """True where the counts confirm the mode."""
        return self.status == Status.certified

    @property
    def multiplicity(self) -> Array:
        """Number of natural frequencies inside the bracket of each mode's group."""
        return self.count_above - self.count_below


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Certificate:
    """What `certify` found of a claimed list of frequencies; arrays of shape (K,), ``bracket`` (K, 2) in rad/s."""

    status: Array
    count_below: Array
    count_above: Array
    bracket: Array
    group: Array

    @property
    def certified(self) -> Array:
        """True where the counts confirm that this frequency is a mode and carries its number."""
        return self.status == Status.certified

    @property
    def all_certified(self) -> bool:
        """True when every frequency is confirmed: none missed, none invented, none displaced."""
        return bool(jnp.all(self.certified))


def natural_frequencies(
    arm: Arm, num_modes: int = 10, theory: str = "timoshenko", *, throw: bool = True
) -> NaturalFrequencies:
    """Lowest natural frequencies of an arm with blocked joints, each certified by the Wittrick-Williams count.

    Parameters
    ----------
    arm : Arm
        The arm; its values may be traced (jit, vmap).
    num_modes : int
        How many frequencies, from the lowest; at least 1.
    theory : str
        ``"timoshenko"``, ``"rayleigh"``, ``"euler_bernoulli"`` or ``"bending_only"``.
    throw : bool
        Raise `UncertifiedError` when a mode is not certified. Only for concrete arms; under jit
        and vmap read ``status``.

    Returns
    -------
    NaturalFrequencies
        ``omega`` of shape (num_modes,) in rad/s, ascending, with counts, brackets and status. Each free hinge
        (stiffness 0) adds a mode of frequency exactly 0, a motion without strain, at the head of the list.

    Raises
    ------
    ArmError
        The arm lacks what the theory needs (a shear coefficient and modulus for ``"timoshenko"``).
    ValueError
        ``num_modes`` or ``theory`` is not usable.
    UncertifiedError
        See ``throw``.
    X64DisabledError
        JAX runs in 32 bits.

    Notes
    -----
    The frequencies are the roots of the determinant of the paper's characteristic matrix (eq 39),
    evaluated in double-double and so exact
    to the last digits of float64. The first call for a new size of arm or list compiles for a second or two.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.examples.three_link_industrial().with_posture([0.7853981633974483, 0.7853981633974483])
    >>> result = jm.natural_frequencies(arm, num_modes=3)
    >>> [f"{f:.4f}" for f in result.frequencies_hz]
    ['5.6464', '21.2404', '79.0882']
    """
    count = positive_integer(num_modes, "num_modes")
    beams, flags = prepared(arm, theory)
    lanes = _bucket(count, 16, 2)
    invalid = jnp.asarray(invalid_values(arm))
    modes = jnp.minimum(jnp.arange(1, lanes + 1), count)
    free = jnp.where(invalid, 0, number_of_hinges(beams, arm.num_links))
    solution = _solve(
        *_padded(lax.stop_gradient(beams), invalid),
        flags,
        jnp.maximum(modes, free + 1),
        jnp.int64(count),
    )
    result = _result(solution, count, invalid, theory)
    result = _differentiable(result, beams, flags, invalid, count)
    result = _with_zero_frequencies(result, modes[:count], free)
    if throw and _is_concrete(result.status):
        _raise_uncertified(result, arm)
    return result


def frequencies_in_band(
    arm: Arm,
    omega_min: float,
    omega_max: float,
    theory: str = "timoshenko",
    *,
    max_modes: int = 1000,
    throw: bool = True,
) -> tuple[NaturalFrequencies, int]:
    """All natural frequencies in ``omega_min <= omega < omega_max``, certified.

    Parameters
    ----------
    arm : Arm
        A concrete arm (the number of frequencies decides the shape of the result).
    omega_min, omega_max : float
        Ends of the band in rad/s, 0 <= omega_min < omega_max.
    theory, throw
        As for `natural_frequencies`.
    max_modes : int
        A band with more frequencies is refused.

    Returns
    -------
    result : NaturalFrequencies
        ``omega`` of shape (K,), K as many as the counts at the two ends say (possibly none).
    first_mode : int
        Mode number, from 1, of the first of them.

    Raises
    ------
    ValueError
        The band is empty or reversed, not finite, or holds more than ``max_modes`` frequencies.
    """
    low, high = float(omega_min), float(omega_max)
    if not (0.0 <= low < high < math.inf):
        raise ValueError(
            f"omega_min = {low!r}, omega_max = {high!r}: a band needs 0 <= omega_min < omega_max, finite, in rad/s"
        )
    limit = positive_integer(max_modes, "max_modes")
    ends = np.asarray(count_below(arm, jnp.array([low, high]), theory))
    count = int(ends[1] - ends[0])
    if count > limit:
        raise ValueError(
            f"the band holds {count} natural frequencies, max_modes = {limit}: narrow it or raise max_modes"
        )
    beams, flags = prepared(arm, theory)
    lanes = _bucket(max(count, 1), 16, 2)
    invalid = jnp.asarray(invalid_values(arm))
    modes = ends[0] + jnp.minimum(jnp.arange(1, lanes + 1), max(count, 1))
    free = jnp.where(invalid, 0, number_of_hinges(beams, arm.num_links))
    solution = _solve(
        *_padded(lax.stop_gradient(beams), invalid),
        flags,
        jnp.maximum(modes, free + 1),
        jnp.int64(max(count, 1)),
    )
    result = _result(solution, count, invalid, theory)
    result = _differentiable(result, beams, flags, invalid, max(int(ends[1]), 1))
    result = _with_zero_frequencies(result, modes[:count], free)
    if throw:
        _raise_uncertified(result, arm)
    return result, int(ends[0]) + 1


def count_below(arm: Arm, omega: ArrayLike, theory: str = "timoshenko") -> Array:
    """J(omega), the number of natural frequencies of an arm below ``omega``.

    Parameters
    ----------
    arm : Arm
        The arm.
    omega : ArrayLike
        Angular frequencies in rad/s, >= 0, any shape.
    theory : str
        As for `natural_frequencies`.

    Returns
    -------
    Array
        int64, of the shape of ``omega``.

    Raises
    ------
    ValueError
        A concrete ``omega`` is negative or not finite, or ``theory`` is unknown.

    Notes
    -----
    W. H. Wittrick and F. W. Williams, Q. J. Mech. Appl. Math. 24 (1971) 263-284, in double-double
    arithmetic. It needs no search:
    between two frequencies there are as many modes as the two counts differ by.
    """
    values = _frequencies_argument(omega, "omega")
    beams, flags = prepared(arm, theory)
    flat = values.reshape(-1)
    size = min(_bucket(max(flat.shape[0], 1), 16, 2), _COUNT_CHUNK)
    chunks = -(-max(flat.shape[0], 1) // size)
    padded = jnp.concatenate([flat, jnp.ones(chunks * size - flat.shape[0])]).reshape(chunks, size)
    counts: Array = _count(*_padded(beams, jnp.asarray(False)), flags, padded)
    return counts.reshape(-1)[: flat.shape[0]].reshape(values.shape)


def certify(
    arm: Arm, omegas: ArrayLike, theory: str = "timoshenko", *, tolerance: float = TOLERANCE
) -> Certificate:
    """Check a list of frequencies, from whatever source, against the counts.

    Parameters
    ----------
    arm : Arm
        The arm.
    omegas : ArrayLike, shape (K,)
        Frequencies in rad/s, ascending, claimed to be modes 1 to K, each to a relative ``tolerance``; of an arm
        with free hinges the zero frequencies are left out, and K counts from the first other mode.
    theory : str
        As for `natural_frequencies`.
    tolerance : float
        Relative accuracy claimed; between 1e-14 and 0.1.

    Returns
    -------
    Certificate
        A missing frequency fails all that follow it; an invented one likewise; a displaced one fails itself.

    Raises
    ------
    ValueError
        ``omegas`` is empty, not one-dimensional, not ascending, or holds a value that is not positive and finite.
    """
    values = _frequencies_argument(omegas, "omegas")
    if values.ndim != 1 or values.shape[0] == 0:
        raise ValueError(f"omegas has shape {values.shape}; expected (K,) with K >= 1")
    if _is_concrete(values) and (
        bool(jnp.any(values <= 0.0)) or bool(jnp.any(values[1:] < values[:-1]))
    ):
        raise ValueError("omegas must be positive and ascending (rad/s); sort them first")
    if not 1e-14 <= tolerance <= 0.1:
        raise ValueError(
            f"tolerance = {tolerance!r}; expected a relative accuracy between 1e-14 and 0.1"
        )
    beams, flags = prepared(arm, theory)
    count = values.shape[0]
    lanes = _bucket(count, 16, 2)
    padded = jnp.concatenate([values, jnp.full(lanes - count, 2.0 * values[-1])])
    modes = jnp.minimum(jnp.arange(1, lanes + 1), count) + number_of_hinges(beams, arm.num_links)
    found = _confirm(
        *_padded(beams, jnp.asarray(False)),
        flags,
        padded,
        modes,
        jnp.int64(count),
        jnp.float64(tolerance),
    )
    status = jnp.where(found.confirmed, Status.certified, Status.uncertified)[:count]
    status = jnp.where(invalid_values(arm), int(Status.invalid_input), status)
    return Certificate(
        status,
        found.count_below[:count],
        found.count_above[:count],
        found.bracket[:count],
        found.group[:count],
    )


def _padded(beams: BeamArrays, invalid: Array) -> tuple[BeamArrays, Array]:
    """Beams padded to a bucket of links (never evaluated) and the true number of links.

    Invalid arms are replaced by harmless values.
    """
    links = beams.length.shape[0]
    bucket = _bucket(links, 4, 4)

    def pad(x: Array) -> Array:
        x = jnp.where(invalid, 1.0, x)
        return jnp.concatenate([x, jnp.broadcast_to(x[-1:], (bucket - links,))])

    padded = jax.tree_util.tree_map(pad, beams)
    return dataclasses.replace(padded, has_shear=True), jnp.int64(links)


def _bucket(size: int, smallest: int, factor: int) -> int:
    while smallest < size:
        smallest *= factor
    return smallest


@jax.jit
def _solve(
    beams: BeamArrays, num_links: Array, flags: Theory, modes: Array, num_modes: Array
) -> tuple[Array, Array, Confirmation, Array]:
    def at(omega: Array) -> Evaluation:
        return evaluate(beams, flags, omega, True, num_links)

    rigidity = beams.youngs_modulus * beams.second_moment / (beams.density * beams.area)
    scale = jnp.min(jnp.sqrt(rigidity) / (beams.length * beams.length))
    first = grid_trials(scale, modes.shape[0])
    brackets = find_brackets(at, modes, first, first, log_at_zero(num_links), _WIDTH, _MAX_ROUNDS)
    omega = lax.cummax(brackets.estimate)
    found = confirm(at, omega, modes, num_modes, jnp.float64(TOLERANCE))
    evaluations = jnp.sum(brackets.evaluations).astype(jnp.int64) + 3 * omega.shape[0]
    return omega, brackets.converged(_WIDTH), found, evaluations


@jax.jit
def _count(beams: BeamArrays, num_links: Array, flags: Theory, omega: Array) -> Array:
    def count(x: Array) -> Array:
        positive = jnp.where(x > 0.0, x, 1.0)
        return jnp.where(x > 0.0, evaluate(beams, flags, positive, True, num_links).count, 0)

    return lax.map(count, omega)


@jax.jit
def _confirm(
    beams: BeamArrays,
    num_links: Array,
    flags: Theory,
    omega: Array,
    modes: Array,
    num_modes: Array,
    tolerance: Array,
) -> Confirmation:
    return confirm(
        lambda x: evaluate(beams, flags, x, True, num_links), omega, modes, num_modes, tolerance
    )


def _result(
    solution: tuple[Array, Array, Confirmation, Array], count: int, invalid: Array, theory: str
) -> NaturalFrequencies:
    omega, converged, found, evaluations = solution
    status = jnp.where(found.confirmed, int(Status.certified), int(Status.uncertified))
    status = jnp.where(converged, status, int(Status.not_converged))
    status = jnp.where(invalid, int(Status.invalid_input), status)[:count]
    return NaturalFrequencies(
        omega=jnp.where(invalid, jnp.nan, omega[:count]),
        status=status,
        count_below=found.count_below[:count],
        count_above=found.count_above[:count],
        bracket=jnp.where(invalid, jnp.nan, found.bracket[:count]),
        group=found.group[:count],
        residual_ratio=found.error_estimate[:count] / _EPS,
        evaluations=evaluations,
        theory=theory,
    )


def _with_zero_frequencies(
    result: NaturalFrequencies, modes: Array, free: Array
) -> NaturalFrequencies:
    """The result for the given mode numbers, the first of which, one for each free hinge, have frequency zero.

    In their place stand copies of the lowest other mode, whose lower count says how many modes lie below it.
    """
    zero = modes <= free
    lowest = result.count_below == free
    certified = jnp.where(lowest & result.certified, int(Status.certified), int(Status.uncertified))
    certified = jnp.where(result.status == Status.invalid_input, result.status, certified)
    index = jnp.arange(modes.shape[0])
    ends = jnp.stack([jnp.zeros_like(result.omega), result.bracket[:, 0]], axis=-1)
    return dataclasses.replace(
        result,
        omega=jnp.where(zero, 0.0, result.omega),
        status=jnp.where(zero, certified, result.status),
        count_below=jnp.where(zero, 0, result.count_below),
        count_above=jnp.where(zero, free, result.count_above),
        bracket=jnp.where(zero[:, None], ends, result.bracket),
        group=jnp.where(zero, 0, jnp.maximum(result.group, jnp.minimum(jnp.sum(zero), index))),
        residual_ratio=jnp.where(zero, 0.0, result.residual_ratio),
    )


def _differentiable(
    result: NaturalFrequencies, beams: BeamArrays, flags: Theory, invalid: Array, highest_mode: int
) -> NaturalFrequencies:
    """The result with derivatives of omega attached."""
    safe = jax.tree_util.tree_map(lambda x: jnp.where(invalid, 1.0, x), beams)
    omega = jnp.where(invalid, 1.0, result.omega)
    multiplicity = jnp.where(invalid, 1, result.multiplicity)
    omega = with_derivative(
        quadrature_size(highest_mode), safe, flags, omega, result.group, multiplicity
    )
    return dataclasses.replace(result, omega=jnp.where(invalid, jnp.nan, omega))


def _is_concrete(x: object) -> bool:
    return not isinstance(x, jax.core.Tracer)


def positive_integer(value: object, name: str) -> int:
    """``value`` as an int of at least 1; a ValueError that names it otherwise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} = {value!r}; expected a whole number of at least 1")
    return int(value)


def _frequencies_argument(value: ArrayLike, name: str) -> Array:
    require_x64()
    values = jnp.asarray(value, dtype=jnp.float64)
    if _is_concrete(values) and not bool(jnp.all(jnp.isfinite(values) & (values >= 0.0))):
        raise ValueError(
            f"{name} = {value!r} holds a value that is negative or not finite; expected frequencies in rad/s"
        )
    return values


def _raise_uncertified(result: NaturalFrequencies, arm: Arm) -> None:
    codes = np.asarray(result.status)
    if codes.size == 0 or not np.any(codes):
        return
    name = f"arm {arm.name!r}: " if arm.name else ""
    lines = [
        f"modes {', '.join(str(k + 1) for k in np.flatnonzero(codes == s))}: {s.name}: {s.cause}; {s.remedy}"
        for s in Status
        if s and np.any(codes == s)
    ]
    raise UncertifiedError(
        f"{name}not every frequency is certified ({result.theory})\n" + "\n".join(lines)
    )
