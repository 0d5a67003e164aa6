"""Exact frequency response between ports, of one arm or of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.documents import table
from jaxmodal.arm.quantities import shown
from jaxmodal.batches.many_arms import columns_of
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.dynamic_stiffness.evaluation import Model
from jaxmodal.frequencies.models import TracedModel, model_of
from jaxmodal.response.driven.port_quantities import check_quantity
from jaxmodal.response.driven.ports import Port, ports
from jaxmodal.response.exact.kinds import RESPONSES
from jaxmodal.response.exact.results import FrequencyResponse
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced, on_host, xp
from jaxmodal.runtime.precision import require_x64
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import AnyArm


def frequency_response(
    arm: AnyArm,
    omega: Any,
    inputs: Any,
    outputs: Any,
    *,
    quantity: str = "receptance",
    theory: TheoryName = "timoshenko",
    parameters: Mapping[str, Any] | None = None,
) -> FrequencyResponse:
    """Return the exact frequency response of an arm between ports.

    Parameters
    ----------
    arm
        The arm, with its axial forces and loads. The values of a planar arm may be traced. Its links have the damping:
        ``loss_factor``, ``kelvin_voigt_time``, ``joint_damping``, ``joint_axial_damping`` and ``joint_shear_damping``;
        in space ``damping`` of the joint springs replaces the last two.
    omega
        Angular frequencies greater than 0 in rad/s, one number or an array (F,); may be traced.
    inputs, outputs
        One or more ports, by names such as ``"tip.across"`` or as `Port`.
    quantity
        ``"receptance"`` (displacement for a unit force), ``"mobility"`` (velocity), ``"accelerance"`` (acceleration),
        ``"dynamic_stiffness"`` (inverse of the receptance matrix; the same ports are inputs and outputs), or
        ``"transmissibility"`` (displacement of the output for a unit displacement of the input, imposed by a force
        there or, at the base, by the ground).
    theory
        As for `natural_frequencies`.
    parameters
        Values of C cells by address, for many arms in one call, as for `natural_frequencies_batch`.

    Returns
    -------
    FrequencyResponse
        Complex values of shape (outputs, inputs, F), with ``parameters`` (C, outputs, inputs, F), and their statuses.
        At an undamped resonance, inf and `Status.resonance`; for an arm buckled by static forces, NaN and
        `Status.unstable`.

    Raises
    ------
    ArmError
        If the arm has no such port, the quantity is unknown or not defined for these ports, a frequency is not greater
        than 0, or an address is unknown.
    ValueError
        If the frequencies are not real numbers, or ``theory`` is unknown.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    The response is computed from the exact solutions of the beam equations, without modes or a mesh: by the
    condensation of `natural_frequencies` with a load at each input, in complex arithmetic where there is damping.
    Concrete arms and frequencies are computed in NumPy; the response is differentiable in both under ``jax.grad`` and
    ``jax.jit``. Errors are some 1e-15; near a resonance with little damping, some 1e-15 divided by the relative
    distance to it (docs/response.md).

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> found = jm.frequency_response(arm, 1.0, "tip.across", ["tip.across", "payload.x"])
    >>> found.values.shape, found.unit()
    ((2, 1), 'm/N')
    """
    options: dict[str, Any] = {"quantity": quantity, "theory": theory, "parameters": parameters}
    return answered(arm, omega, inputs, outputs, **options, judge_stability=True)


def answered(
    arm: AnyArm,
    omega: Any,
    inputs: Any,
    outputs: Any,
    *,
    quantity: str,
    theory: TheoryName,
    parameters: Mapping[str, Any] | None,
    judge_stability: bool,
    lowered: Model | TracedModel | None = None,
) -> FrequencyResponse:
    """Return `frequency_response`, without the buckling check unless ``judge_stability``.

    ``lowered`` is the model of one arm, if it is known.
    """
    require_x64()
    require_arm(arm)
    theory_flags(theory)  # refuses an unknown one
    into, out = ports(inputs, arm, "inputs"), ports(outputs, arm, "outputs")
    check_quantity(quantity, into, out)
    omega = _frequencies(omega)
    columns = None
    if parameters is None:
        lowered = model_of(arm, theory) if lowered is None else lowered
    else:
        given = table("parameters", parameters, ArmError)
        if is_traced(arm, dict(given)):
            raise ArmError(
                "parameters: are for arms and values that are not traced; inside jit, vmap and grad map over arms."
            )
        columns = columns_of(arm, given)
    asked = omega.reshape((-1,)), into, out, quantity, judge_stability
    found = RESPONSES.of(arm).answers(arm, theory, lowered, columns, *asked)
    values, infinite, invalid, unstable = found
    values, status = _judged(values, infinite, invalid, unstable)
    lead = () if columns is None else invalid.shape
    shape = (*lead, len(out), len(into), *omega.shape)
    return FrequencyResponse(
        omega=omega,
        values=values.reshape(shape),
        status=status.reshape(shape),
        cells=None if columns is None else columns[1],
        quantity=quantity,
        inputs=into,
        outputs=out,
        addresses=() if columns is None else tuple(columns[0]),
        theory=theory,
    )


def motions(
    arm: AnyArm,
    omega: Any,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    theory: TheoryName,
    judge_stability: bool = True,
    lowered: Model | TracedModel | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return displacements (outputs, inputs, F) for unit forces and base motions, and a mask of the base inputs."""
    found = np.empty((len(outputs), len(inputs), omega.size), np.complex128)
    at_base = np.array([each.place == "base" for each in inputs])
    for which, quantity in ((~at_base, "receptance"), (at_base, "transmissibility")):
        if which.any():
            chosen = [each for each, is_so in zip(inputs, which, strict=True) if is_so]
            options: dict[str, Any] = {"quantity": quantity, "theory": theory, "parameters": None}
            options |= {"judge_stability": judge_stability, "lowered": lowered}
            answer = answered(arm, omega, chosen, outputs, **options)
            found[:, which] = np.asarray(answer.values)
    return found, at_base


def _judged(
    values: Array, infinite: Array, invalid: Array, unstable: Array | None
) -> tuple[Array, Array]:
    """Return complex values and statuses, shape (cells, outputs, inputs, F)."""
    values, infinite = (xp.moveaxis(x, 2, 0) for x in (values, infinite))
    unstable = xp.zeros_like(invalid) if unstable is None else unstable
    wrong = (infinite, invalid, unstable)
    plain = on_host(values, *wrong) and not any(x.any() for x in wrong)
    if plain and np.isfinite(values).all():
        return values, np.full(values.shape, Status.resolved, np.int8)
    values = values + 0j * xp.zeros_like(values)
    invalid, unstable = (x[:, None, None, None] for x in (invalid, unstable))
    lost = ~(xp.isfinite(values.real) & xp.isfinite(values.imag)) & ~infinite
    names = ("resonance", "not_resolved", "unstable", "invalid_input")
    codes = [int(Status[name]) for name in names]
    status = xp.full_like(infinite, int(Status.resolved), dtype=np.int8)
    for code, where in zip(codes, (infinite, lost, unstable, invalid), strict=True):
        status = xp.where(where, np.int8(code), status)
    # as factors, so that derivatives of unresolved values are also NaN
    known, endless = status == int(Status.resolved), status == int(Status.resonance)
    infinity = xp.where(endless, np.inf, xp.where(known, 1.0, np.nan))
    real = xp.where(infinite & ~(xp.abs(values.real) > 0.0), 1.0, values.real) * infinity
    imaginary = values.imag * xp.where(known | endless, 1.0, np.nan)
    imaginary = xp.where(infinite, 0.0, imaginary)
    return real + 1j * imaginary, status


def _frequencies(omega: Any) -> Any:
    if is_traced(omega):
        if jnp.iscomplexobj(omega) or omega.ndim > 1:
            raise ValueError(
                f"omega of shape {omega.shape} and type {omega.dtype}: expected real numbers in rad/s, one or an array "
                "with one axis"
            )
        return omega.astype(jnp.float64)
    found = real_array(omega, "omega")
    if found.ndim > 1 or found.size == 0:
        raise ValueError(
            f"omega has shape {found.shape}; expected one frequency in rad/s or an array of at least one, with one axis"
        )
    wrong = ~((found > 0.0) & np.isfinite(found))
    if wrong.any():
        first = int(np.argmax(wrong.reshape(-1)))
        place = f"[{first}]" if found.ndim else ""
        raise ArmError(
            f"omega{place} = {shown(found.reshape(-1)[first])}: must be finite and greater than 0 (rad/s); for the "
            "static response take a small one: at 1e-6 of the first natural frequency it is static to 1e-12."
        )
    return found
