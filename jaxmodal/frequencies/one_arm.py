"""Certified natural frequencies of one arm: public functions."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arguments import band, positive_integer
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.kinds import ByKind
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName
from jaxmodal.dynamic_stiffness.evaluation import Model
from jaxmodal.eigenspaces.frequency_derivatives import with_derivative
from jaxmodal.eigenspaces.modal_mass import quadrature_size
from jaxmodal.frequencies.certificate import TOLERANCE
from jaxmodal.frequencies.counts import counts_below
from jaxmodal.frequencies.host_solver import confirm_on_host, solve_on_host
from jaxmodal.frequencies.models import OtherArm, PlanarModel, TracedModel, model_of
from jaxmodal.frequencies.programs import (
    PaddedProblem,
    Solution,
    padded_problem,
    padded_size,
    solve_padded,
)
from jaxmodal.frequencies.results import NaturalFrequencies, raise_uncertified
from jaxmodal.frequencies.stability import number_unstable, refused
from jaxmodal.frequencies.traced_arms import traced_frequencies
from jaxmodal.frequencies.zero_modes import with_zero_modes
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced, to_device, tree_on_host, xp
from jaxmodal.runtime.statuses import Status
from jaxmodal.statics.beam_arrays import BeamArrays


def natural_frequencies(
    arm: Arm | OtherArm,
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    throw: bool = True,
) -> NaturalFrequencies:
    """Return the lowest natural frequencies of an arm, each certified by the Wittrick-Williams count.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm, with blocked joints. Its values may be traced (jit, vmap, grad). Traced arms in space are solved by
        callbacks into NumPy, one per cell of a vmap, and have first derivatives only.
    num_modes : int
        Number of frequencies, from the lowest; at least 1.
    theory : str
        ``"timoshenko"``, ``"rayleigh"``, ``"euler_bernoulli"`` or ``"bending_only"``.
    throw : bool
        Raise `UncertifiedError` if a mode is not certified. Only for concrete arms; under jit and vmap, check
        ``status``.

    Returns
    -------
    NaturalFrequencies
        ``omega`` of shape (num_modes,) in rad/s, ascending, with counts, brackets and status. Each free joint
        (stiffness 0) whose motion no support resists adds a mode with frequency exactly 0 at the start of the list.

    Raises
    ------
    ArmError
        If the arm lacks what the theory needs (a shear coefficient and modulus for ``"timoshenko"``).
    ValueError
        If ``num_modes`` or ``theory`` is invalid.
    UncertifiedError
        See ``throw``.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    The frequencies are the roots of the determinant of the paper's characteristic matrix (eq 39),
    evaluated in double-double and so exact to the last digits of float64.

    A concrete arm is computed in NumPy in about 0.05 s, without compilation. Derivatives by ``jax.grad`` or
    ``jax.jacfwd`` outside of jit and vmap are computed in NumPy as well; only a few small programs are compiled. For
    many arms use `natural_frequencies_batch`, which takes microseconds per arm. In a loop, use ``jax.jit`` of this
    function: it compiles once per structure of arms and then takes some milliseconds per arm.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.examples.three_link_industrial().with_posture([0.7853981633974483, 0.7853981633974483])
    >>> result = jm.natural_frequencies(arm, num_modes=3)
    >>> [f"{f:.4f}" for f in result.frequencies_hz]
    ['5.6464', '21.2404', '79.0882']
    """
    count = positive_integer(num_modes, "num_modes", limits.MODES)
    return to_device(_certified(_SOLVERS.of(arm)(arm, theory, count), arm.name, throw))


def _lowest(arm: Arm | OtherArm, theory: TheoryName, count: int) -> NaturalFrequencies:
    return solved_model(model_of(arm, theory), theory, 0, count)


def _lowest_in_space(arm: OtherArm, theory: TheoryName, count: int) -> NaturalFrequencies:
    """Return the same for an arm whose traced values are known to NumPy alone."""
    if not is_traced(arm):
        return _lowest(arm, theory, count)
    return traced_frequencies(arm, theory, count, lambda known: _lowest(known, theory, count))


_SOLVERS: ByKind[Callable[..., NaturalFrequencies]] = ByKind(_lowest, _lowest_in_space)


def lowest_frequencies(
    model: Model | TracedModel, name: str, num_modes: int, theory: TheoryName, throw: bool
) -> NaturalFrequencies:
    """Return `natural_frequencies` from a model; NumPy arrays for a concrete arm. ``name`` is used in messages."""
    count = positive_integer(num_modes, "num_modes", limits.MODES)
    return _certified(solved_model(model, theory, 0, count), name, throw)


def _certified(found: NaturalFrequencies, name: str, throw: bool) -> NaturalFrequencies:
    if throw and not is_traced(found.status):
        raise_uncertified(found, name)
    return found


def frequencies_in_band(
    arm: Arm | OtherArm,
    omega_min: float,
    omega_max: float,
    *,
    theory: TheoryName = "timoshenko",
    max_modes: int = 1000,
    throw: bool = True,
) -> NaturalFrequencies:
    """Return all natural frequencies in ``omega_min <= omega < omega_max``, certified.

    Parameters
    ----------
    arm : Arm or SpatialArm
        A concrete arm (the shape of the result depends on the number of frequencies).
    omega_min, omega_max : float
        Ends of the band in rad/s, 0 <= omega_min < omega_max.
    theory, throw
        As for `natural_frequencies`.
    max_modes : int
        Largest number of frequencies; a band with more is refused.

    Returns
    -------
    NaturalFrequencies
        ``omega`` of shape (K,), K the difference of the counts at the two ends (possibly 0). ``first_mode`` is the
        mode number of the first entry.

    Raises
    ------
    ValueError
        If the band is empty, reversed or not finite, or holds more than ``max_modes`` frequencies.
    ArmError
        If the arm has an invalid value.
    """
    model = model_of(arm, theory)
    return jax.device_put(
        found_in_band(model, arm.name, omega_min, omega_max, theory, max_modes, throw)
    )


def found_in_band(
    model: Model | TracedModel,
    name: str,
    omega_min: Any,
    omega_max: Any,
    theory: TheoryName,
    max_modes: Any = 1000,
    throw: bool = True,
) -> NaturalFrequencies:
    """Return `frequencies_in_band` from a model. ``name`` is used in messages.

    Computed entirely in NumPy, because callbacks from JAX must not run JAX operations.
    """
    low, high = band(omega_min, omega_max, from_zero=True)
    limit = positive_integer(max_modes, "max_modes", limits.MODES)
    ends = counts_below(model, np.array([low, high]))
    if ends[0] < 0:
        raise ArmError(
            f"arm {name!r} has an invalid value, so its modes cannot be counted; jax.tree.map and the like do not "
            "validate: make the arm with allowed values."
        )
    count = int(ends[1] - ends[0])
    if count > limit:
        raise ValueError(
            f"the band holds {count} natural frequencies, max_modes = {limit}: narrow it or raise max_modes"
        )
    result = solved_model(model, theory, int(ends[0]), count)
    result = dataclasses.replace(result, first_mode=int(ends[0]) + 1)
    if throw:
        raise_uncertified(result, name)
    return result


def solved_model(
    model: Model | TracedModel, theory: TheoryName, first: int, count: int
) -> NaturalFrequencies:
    """Return ``count`` frequencies, possibly 0, after the ``first`` lowest; NumPy arrays for a concrete arm."""
    if not isinstance(model, TracedModel):
        return _solved_on_host(model, theory, first, count)
    if model.known is not None:
        return _solved_with_rates(model, model.known, theory, first, count)
    wanted, flags = max(count, 1), model.flags
    beams = jax.tree_util.tree_map(jnp.asarray, model.beams)
    lanes, invalid = padded_size(wanted, 16, 2), model.invalid
    problem = padded_problem(lax.stop_gradient(beams), invalid, first, wanted, lanes=lanes)
    result = _compiled_result(solve_padded(problem, flags), invalid, count=count, theory=theory)
    unstable = None
    if beams.axial_force is not None:
        unstable = ~invalid & _compiled_instability(problem, flags)
    without = invalid if unstable is None else invalid | unstable
    result = _differentiable(result, beams, flags, without, max(first + count, 1))
    result = _compiled_with_zeros(result, problem.modes, problem.free)
    if unstable is not None:
        result = _compiled_refused(result, unstable)
    return _compiled_unknown(result, without, beams)


@runtime_checkable
class SolvesItself(Protocol):
    """Protocol of a model with its own search, because its counts are dear or know float64 alone."""

    def solved(self, theory: TheoryName, first: int, count: int) -> NaturalFrequencies:
        """Return ``count`` frequencies after the ``first`` lowest, of valid values and stable; NumPy arrays."""
        ...


def _solved_on_host(model: Model, theory: TheoryName, first: int, count: int) -> NaturalFrequencies:
    """Return `solved_model` in NumPy."""
    if isinstance(model, SolvesItself) and not (model.invalid or model.unstable):
        return model.solved(theory, first, count)
    solution, modes, free = _searched_on_host(model, first, max(count, 1))
    result = result_of(solution, modes[:count], free, np.bool_(model.invalid), theory)
    return refused(result, np.bool_(True)) if model.unstable else result


def _solved_with_rates(
    traced: TracedModel, model: PlanarModel, theory: TheoryName, first: int, count: int
) -> NaturalFrequencies:
    """Return `solved_model` of concrete values in NumPy, with derivatives by the traced values attached."""
    beams, flags = traced.beams, traced.flags
    solution, modes, free = _searched_on_host(model, first, max(count, 1))
    found = _result(solution, np.bool_(model.invalid), count=count, theory=theory)
    result = with_zero_modes(found, modes, free)
    if model.invalid or model.unstable:
        result = refused(result, np.bool_(True)) if model.unstable else result
        return _compiled_unknown(result, jnp.asarray(True), beams)
    points = quadrature_size(max(first + count, 1))
    omega = jax.device_put(found.omega)  # what jax.jvp hands back is an array of JAX
    omega = with_derivative(points, beams, flags, omega, found.group, found.multiplicity)
    if free:
        omega = _compiled_zeroed(omega, modes[:count] <= free)
    return dataclasses.replace(result, omega=omega)


@jax.jit
def _compiled_zeroed(omega: Array, zero: Array) -> Array:
    return jnp.where(zero, 0.0, omega)


def _searched_on_host(model: Model, first: int, wanted: int) -> tuple[Solution, Array, Array]:
    """Return the positive frequencies, all mode numbers, and the number of zero frequencies.

    An arm without usable values is replaced by another one.
    """
    modes = np.arange(first + 1, first + wanted + 1)
    free = np.int64(0 if model.invalid else model.zero_frequencies)
    model = model.harmless() if model.invalid or model.unstable else model
    sought = np.maximum(modes, free + 1)
    found = solve_on_host(model, sought)
    other = None if found.certificate.ok else model.otherwise()
    if other is not None:
        again = solve_on_host(other, sought)
        if again.certificate.ok and np.all(again.converged):
            found = again._replace(evaluations=found.evaluations + again.evaluations)
        else:  # what was found may still be confirmed by the other formulas
            known = confirm_on_host(other, found.omega, sought, TOLERANCE)
            found = found._replace(certificate=known) if known.ok else found
    return found, modes, free


def result_of(
    solution: Solution, modes: Array, free: Array, invalid: Array, theory: TheoryName
) -> NaturalFrequencies:
    """Return the result for the modes of these numbers, of an arm with ``free`` zero frequencies; NumPy arrays."""
    result = _result(solution, invalid, count=modes.shape[0], theory=theory)
    return with_zero_modes(result, modes, free)


def solve_beams(
    beams: BeamArrays, flags: Theory, count: int, theory: TheoryName
) -> NaturalFrequencies:
    """Return the ``count`` lowest frequencies of valid beams, without derivatives; in NumPy for NumPy beams."""
    if tree_on_host(beams):
        return _solved_on_host(PlanarModel(beams, flags), theory, 0, count)
    invalid, lanes = jnp.asarray(False), padded_size(count, 16, 2)
    problem = padded_problem(beams, invalid, 0, count, lanes=lanes)
    solution = solve_padded(problem, flags)
    result = result_of(solution, problem.modes[:count], problem.free, invalid, theory)
    if beams.axial_force is None:
        return result
    return refused(result, _compiled_instability(problem, flags))


def _result(
    solution: Solution, invalid: Array, *, count: int, theory: TheoryName
) -> NaturalFrequencies:
    """Return the first ``count`` modes of a solution."""
    omega, converged, found, evaluations = solution
    status = xp.where(converged, found.status, int(Status.not_converged))
    status = xp.where(invalid, int(Status.invalid_input), status)[:count]
    return NaturalFrequencies(
        omega=xp.where(invalid, xp.nan, omega[:count]),
        status=status,
        count_below=found.count_below[:count],
        count_above=found.count_above[:count],
        bracket=xp.where(invalid, xp.nan, found.bracket[:count]),
        group=found.group[:count],
        residual_ratio=found.residual_ratio[:count],
        evaluations=evaluations,
        theory=theory,
    )


_compiled_result = functools.partial(jax.jit, static_argnames=("count", "theory"))(_result)


_compiled_with_zeros = jax.jit(with_zero_modes)


@jax.jit
def _compiled_instability(problem: PaddedProblem, flags: Theory) -> Array:
    """Return True if the static forces buckle the arm."""
    return (
        number_unstable(
            problem.beams, flags, problem.free, Arithmetic.double_double, problem.num_links
        )
        > 0
    )


@jax.jit
def _compiled_unknown(
    result: NaturalFrequencies, where: Array, beams: BeamArrays
) -> NaturalFrequencies:
    """Return the result with derivatives of NaN where its frequencies are NaN (and not those of a constant)."""
    factor = jnp.where(where, jnp.nan, 0.0)
    known = [
        jnp.where(jnp.isinf(x) & ~where, 0.0, x) for x in jax.tree.leaves(beams)
    ]  # rigid joints
    rates = [jnp.sum(factor * x) for x in known]
    unknown = jnp.where(where, sum(rates), 0.0)
    return dataclasses.replace(result, omega=result.omega + unknown)


_compiled_refused = jax.jit(refused)


def _differentiable(
    result: NaturalFrequencies, beams: BeamArrays, flags: Theory, invalid: Array, highest_mode: int
) -> NaturalFrequencies:
    """Return the result with derivatives of omega attached."""
    given = beams, result.omega, result.multiplicity
    safe, omega, multiplicity = _ones_if(invalid, given)
    omega = with_derivative(
        quadrature_size(highest_mode), safe, flags, omega, result.group, multiplicity
    )
    return dataclasses.replace(result, omega=jnp.where(invalid, jnp.nan, omega))


@jax.jit
def _ones_if(invalid: Array, values: Any) -> Any:
    """Return ``values``, or ones in their place."""
    return jax.tree_util.tree_map(lambda x: jnp.where(invalid, jnp.ones_like(x), x), values)
