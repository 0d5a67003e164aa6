"""Exact sensitivities: derivatives of natural frequencies with respect to the parameters of the arm.

``jax.grad`` and the other transformations work on `natural_frequencies` itself. This module makes labelled tables,
and handles (nearly) coincident frequencies: a single one of these has no useful derivative, because the
smallest change of the arm exchanges the modes. The mean of the group has a derivative, and so has each frequency for a
given direction of change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import jax
import numpy as np

from jaxmodal.arm.addresses import asked_for, labelled, set_together
from jaxmodal.arm.arguments import positive_integer, real_number
from jaxmodal.arm.documents import table as checked_table
from jaxmodal.arm.paths import value_at
from jaxmodal.arm.quantities import as_scalar
from jaxmodal.arm.quantities import shown as as_text
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import Model
from jaxmodal.eigenspaces.clusters import CLUSTER_TOLERANCE, check_clusters, cluster_means, clusters
from jaxmodal.frequencies.models import PlanarModel, concrete_model
from jaxmodal.frequencies.one_arm import lowest_frequencies
from jaxmodal.frequencies.results import NaturalFrequencies, raise_uncertified
from jaxmodal.modes.planar_sensitivities import planar_derivatives, planar_projection
from jaxmodal.modes.sensitivity_results import Sensitivities
from jaxmodal.modes.spatial_sensitivities import spatial_derivatives, spatial_projection
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.parts.parameters import unit_of_address
from jaxmodal.spatial.preload.derivatives import derivatives_under_loads, projection_under_loads
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.stiffness.model import SpatialModel

#: modes computed beyond those asked for: to see whether the last of these belongs to a cluster, and where it does, to
#: see its end
_NEXT, _BEYOND = 1, 4
_REPEATED = ("refuse", "mean")
#: what gives the derivatives by address, and those in a direction projected on some modes, of arms of each kind
_DERIVATIVES: dict[type, Callable[..., dict[str, Array]]] = {
    PlanarModel: planar_derivatives,
    SpatialModel: spatial_derivatives,
    LoadedModel: derivatives_under_loads,
}
_PROJECTIONS: dict[type, Callable[..., Callable[[np.ndarray], Array]]] = {
    PlanarModel: planar_projection,
    SpatialModel: spatial_projection,
    LoadedModel: projection_under_loads,
}


def sensitivities(
    arm: AnyArm,
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    addresses: Sequence[str] | None = None,
    cluster_tolerance: float = CLUSTER_TOLERANCE,
    repeated: str = "refuse",
    throw: bool = True,
) -> Sensitivities:
    """Return derivatives of the lowest natural frequencies with respect to the parameters of the arm.

    Parameters
    ----------
    arm : Arm or SpatialArm
        A concrete arm. Inside jit, vmap and grad, differentiate `natural_frequencies` itself (planar arms).
    num_modes, theory, throw
        As for `natural_frequencies`.
    addresses : sequence of str, optional
        The parameters, as in `set_parameters`; all parameters of the arm if left out.
    cluster_tolerance : float
        Relative distance below which frequencies form a cluster; at least 1e-12, the resolution of frequencies.
    repeated : str
        For members of a cluster: ``"refuse"`` raises an error, ``"mean"`` returns the derivative of the mean of the
        cluster.

    Raises
    ------
    RepeatedFrequencyError
        If a frequency belongs to a cluster and ``repeated`` is ``"refuse"``, or if the last cluster does not end
        within four modes beyond ``num_modes``.
    ArmError, ValueError, UncertifiedError
        If an address is unknown, or a tolerance or choice is invalid. Other errors as for `natural_frequencies`.

    Notes
    -----
    Derivatives are computed by implicit differentiation from the energies of the modes: without differences, and
    without differentiating the search. The cost is that of the mode shapes, whatever the number of parameters.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05))
    >>> table = jm.sensitivities(jm.Arm((link,)), 1, theory="bending_only",
    ...                          addresses=["link1.length", "link1.youngs_modulus"])
    >>> [round(float(x), 9) for x in table.logarithmic[0]]   # omega goes with L^-2 and sqrt(E)
    [-2.0, 0.5]
    """
    if repeated not in _REPEATED:
        raise ValueError(
            f"repeated = {repeated!r}; choose one of {', '.join(map(repr, _REPEATED))}"
        )
    names, members = asked_for(arm, addresses)
    model = _concrete_model(arm, theory)
    cluster_tolerance = real_number(cluster_tolerance, "cluster_tolerance", "relative")
    found, shown = _with_neighbours(model, arm.name, num_modes, theory, cluster_tolerance, throw)
    cluster, ends = clusters(found.omega, found.group, cluster_tolerance)
    check_clusters(found.omega, cluster, ends, num_modes, repeated, cluster_tolerance)
    found, cluster = _up_to(found, int(ends[num_modes - 1]) + 1), cluster[: ends[num_modes - 1] + 1]
    singles = list(dict.fromkeys(single for group in members for single in group))
    of_arm = _DERIVATIVES[type(model)](arm, model, found, singles)
    columns = [sum(of_arm[single] for single in singles) for singles in members]
    derivative = np.stack(columns, axis=1) if columns else np.zeros((found.omega.shape[0], 0))
    derivative = cluster_means(derivative, cluster)[:num_modes]
    derivative = np.where(np.isnan(shown.omega)[:, None], np.nan, derivative)
    values = np.array([np.mean([float(value_at(arm, s)) for s in m]) for m in members])
    scale = np.where(np.isfinite(values), values, 0.0)
    omega = np.where(shown.omega == 0.0, 1.0, shown.omega)
    logarithmic = derivative * scale[None, :] / omega[:, None]
    if any(len(m) > 1 for m in members):
        logarithmic = _logarithmic(arm, of_arm, members, omega, cluster)
    size = np.bincount(cluster, minlength=len(cluster))[cluster]
    return jax.device_put(
        Sensitivities(
            frequencies=shown,
            values=values,
            derivative=derivative,
            logarithmic=logarithmic,
            cluster=cluster[:num_modes],
            individual=size[:num_modes] == 1,
            addresses=names,
            units=tuple(unit_of_address(name, arm) for name in names),
            labels=tuple(labelled(arm, name) for name in names),
            whole=addresses is None,
        )
    )


def _concrete_model(arm: AnyArm, theory: TheoryName) -> Model:
    """Return the model of an arm with concrete values; a traced arm is refused."""
    if is_traced(arm):
        raise TypeError(
            "the arm is traced: this table is for concrete arms; inside jit, vmap and grad differentiate"
            " natural_frequencies(arm, ...).omega"
        )
    return concrete_model(arm, theory)


def _with_neighbours(
    model: Model,
    name: str,
    num_modes: int,
    theory: TheoryName,
    cluster_tolerance: float,
    throw: bool,
) -> tuple[NaturalFrequencies, NaturalFrequencies]:
    """Return the frequencies up to beyond the end of the last cluster, and the requested ones, as NumPy arrays.

    In the former, NaN is replaced by numbers.
    """
    count = positive_integer(num_modes, "num_modes", limits.MODES)
    found = _numbers(lowest_frequencies(model, name, count + _NEXT, theory, throw=False))
    _, ends = clusters(found[0].omega, found[0].group, cluster_tolerance)
    if ends[count - 1] == count:
        found = _numbers(lowest_frequencies(model, name, count + _BEYOND, theory, throw=False))
    shown = _up_to(found[1], count)
    if throw:
        raise_uncertified(shown, name)
    return found[0], shown


def _up_to(found: NaturalFrequencies, count: int) -> NaturalFrequencies:
    """Return the first ``count`` entries."""
    some: NaturalFrequencies = jax.tree_util.tree_map(
        lambda x: x[:count] if np.ndim(x) else x, found
    )
    return some


def _numbers(found: NaturalFrequencies) -> tuple[NaturalFrequencies, NaturalFrequencies]:
    """Return the frequencies with well separated numbers in place of NaN, and the frequencies as they were found."""
    absent, alone = np.isnan(found.omega), np.arange(found.omega.size)
    highest = np.max(found.omega, where=~absent, initial=1.0)
    omega = np.where(absent, highest * (2.0 + alone), found.omega)
    group = np.where(absent, alone, found.group)
    return dataclasses.replace(found, omega=omega, group=group), found


def _logarithmic(
    arm: AnyArm,
    of_arm: dict[str, Array],
    members: list[list[str]],
    omega: Array,
    cluster: np.ndarray,
) -> Array:
    """Return logarithmic derivatives; an address of several values changes all by the same relative amount."""

    def term(single: str) -> Array:
        value = float(value_at(arm, single))
        return of_arm[single] * (value if np.isfinite(value) else 0.0)

    columns = [sum(term(single) for single in singles) for singles in members]
    return cluster_means(np.stack(columns, axis=1), cluster)[: omega.shape[0]] / omega[:, None]


def directional_derivatives(
    arm: AnyArm,
    direction: Mapping[str, float],
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    cluster_tolerance: float = CLUSTER_TOLERANCE,
    throw: bool = True,
) -> Array:
    """Return one-sided derivatives of the frequencies for one direction of change, also of coincident ones.

    Parameters
    ----------
    arm : Arm or SpatialArm
        A concrete arm.
    direction : mapping of address to float
        Rates of change of parameters, in SI units per unit of a path parameter t; other parameters do not change.
    num_modes, theory, throw
        As for `natural_frequencies`.
    cluster_tolerance : float
        Relative distance below which frequencies are treated as equal.

    Returns
    -------
    Array, shape (num_modes,)
        ``d omega_k/dt`` in rad/s as t increases from 0, in the order of the frequencies just after 0, and therefore
        ascending within a cluster.

    Raises
    ------
    RepeatedFrequencyError
        If the last cluster does not end within four modes beyond ``num_modes``.
    ArmError, ValueError, UncertifiedError
        As for `sensitivities`.

    Notes
    -----
    In a cluster, they are the eigenvalues of the derivative projected on an orthonormal basis of its modes. As t
    decreases from 0, the derivatives are the negatives of those for the opposite direction.
    """
    direction = checked_table("direction", direction, ArmError)
    model = _concrete_model(arm, theory)
    found, shown = _with_neighbours(model, arm.name, num_modes, theory, cluster_tolerance, throw)
    if np.any(found.omega == 0.0):
        raise ValueError(
            "the arm has free joints (a stiffness of 0): their modes of zero frequency have no derivative in a"
            " direction; give the joint a soft spring, or use sensitivities for the other modes"
        )
    first, last = clusters(found.omega, found.group, cluster_tolerance)
    check_clusters(found.omega, first, last, num_modes, "mean", cluster_tolerance)
    for name, rate in direction.items():
        if not np.isfinite(as_scalar(f"direction[{name!r}]", rate, "finite")):
            raise ArmError(f"direction[{name!r}] = {as_text(rate)}: must be finite.")
    rate_of = {single: direction[name] for single, name in set_together(arm, direction).items()}
    projected_on = _PROJECTIONS[type(model)](arm, model, found, rate_of)
    result = np.zeros(num_modes)
    for a in np.unique(first[:num_modes]):
        members = np.arange(a, last[a] + 1)
        kept = members[members < num_modes]
        result[kept] = np.linalg.eigvalsh(projected_on(members))[: len(kept)]
    return jax.device_put(np.where(np.isnan(shown.omega), np.nan, result))
