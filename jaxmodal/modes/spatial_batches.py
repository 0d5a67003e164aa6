"""Sensitivities, energies and effective masses of many arms in space, at known frequencies.

The arms are computed one after the other in NumPy, without compilation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.addresses import asked_for, set_together
from jaxmodal.arm.paths import leaf_numbers, value_at
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.eigenspaces.clusters import cluster_means, clusters
from jaxmodal.eigenspaces.modal_mass import unpadded_quadrature_size
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.cell_fields import CellFields
from jaxmodal.runtime.array_types import Integers
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.energies import SpatialEnergies, is_pressed
from jaxmodal.spatial.modes.gradients import frequency_gradients, leaf_derivatives, whole_groups
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.modes.motions import carried_motions
from jaxmodal.spatial.modes.values import rates
from jaxmodal.spatial.preload.derivatives import frequency_derivatives
from jaxmodal.spatial.preload.loaded_modes import eigenmodes_of
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.stiffness.model import SpatialModel


def spatial_quantities(
    arm: SpatialArm,
    parameters: Mapping[str, np.ndarray],
    found: NaturalFrequencies,
    first: Integers,
    last: Integers,
    singles: Sequence[str],
) -> CellFields:
    """Return the results for the variants of an arm; NaN where a frequency is NaN or 0.

    Parameters
    ----------
    arm : SpatialArm
        The arm; cells differ from it only in ``parameters``.
    found : NaturalFrequencies
        Their frequencies, ``omega`` of shape (N, K).
    first, last
        As for `planar_quantities`; not used.
    singles
        The single-value addresses to differentiate by, each once.
    """
    columns, places = _columns(arm, parameters), leaf_numbers(arm)
    numbers = np.arange(len(found.omega))
    variants = [_variant(arm, columns, int(k), found.theory) for k in numbers]
    invalid = np.array([variant is None for variant in variants])
    invalid |= ~np.isfinite(found.omega).all(axis=1)
    bare = arm, arm.unloaded_model(found.theory)
    cells = [
        _cell(*(variant or bare), found, int(k), singles)
        for k, variant in zip(numbers, variants, strict=True)
    ]
    joined = jax.tree_util.tree_map(lambda *x: np.stack(x), *cells)
    gradient = joined.pop("gradient")
    values = {single: columns.get(single, value_at(arm, single)) for single in singles}
    return CellFields(
        derivative={single: gradient[..., places[single]] for single in singles},
        value={single: np.broadcast_to(x, numbers.shape) for single, x in values.items()},
        omega=np.where(found.omega > 0.0, found.omega, 1.0),
        invalid=invalid,
        **joined,
    )


def cell_derivatives(
    arm: SpatialArm,
    parameters: Mapping[str, np.ndarray],
    found: NaturalFrequencies,
    addresses: Sequence[str],
) -> np.ndarray:
    """Return only the derivatives of the frequencies of the variants of an arm, (N, K, P).

    They are means over clusters, as in `modal_quantities_batch`, and NaN where a frequency is NaN. ``parameters`` must
    be valid values.
    """
    _, members = asked_for(arm, addresses)
    columns, places = _columns(arm, parameters), leaf_numbers(arm)
    cells = []
    for k, omega in enumerate(found.omega):
        own = arm.with_values({name: float(column[k]) for name, column in columns.items()})
        model, groups = own.search_model(found.theory), np.asarray(found.group)[k]
        multiplicity = np.asarray(found.multiplicity)[k]
        if isinstance(model, LoadedModel):
            given = model, own, np.asarray(omega), groups, multiplicity
            every = [frequency_derivatives(*given, group).sum(axis=1) for group in members]
            cells.append(every)
            continue
        by_leaves = frequency_gradients(modal_model(model), omega, groups, multiplicity)
        cells.append([by_leaves[:, [places[s] for s in group]].sum(axis=1) for group in members])
    first = clusters(found.omega, found.group)[0]
    means: np.ndarray = cluster_means(np.moveaxis(np.array(cells), 1, 2), first)
    return means


def _columns(arm: SpatialArm, parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return values by single-value address."""
    setters = set_together(arm, parameters)
    return {single: parameters[address] for single, address in setters.items()}


def _variant(
    arm: SpatialArm, columns: Mapping[str, np.ndarray], cell: int, theory: TheoryName
) -> tuple[SpatialArm, SpatialModel | LoadedModel] | None:
    """Return the arm of a cell and its model; None if its values are invalid, or nothing holds it against its loads."""
    try:
        own = arm.with_values({name: float(column[cell]) for name, column in columns.items()})
        return own, own.search_model(theory)
    except ArmError:
        return None


def _cell(
    arm: SpatialArm,
    lowered: SpatialModel | LoadedModel,
    found: NaturalFrequencies,
    cell: int,
    singles: Sequence[str],
) -> dict[str, Any]:
    """Return the results of one arm; derivatives, effective masses and energies are means over equal frequencies.

    Derivatives are by all leaves, or under loads by ``singles`` alone; there are none without ``singles``.
    """
    places, leaves = leaf_numbers(arm), len(jax.tree_util.tree_leaves(arm)) if singles else 0
    own = eigenmodes_of(lowered)
    model = own.model
    omega, group = found.omega[cell], np.asarray(found.group)[cell]
    multiplicity = np.asarray(found.multiplicity)[cell]
    known, wanted, starts = whole_groups(omega, group, multiplicity)
    points, n = unpadded_quadrature_size(omega.size), len(model.links)
    carried, masses = carried_motions(model, points)
    names = [field.name for field in dataclasses.fields(SpatialEnergies)]
    if arm.loads is None and not is_pressed(model):
        names.remove("preload")
    shapes: dict[str, Any] = {"participation": 6, "effective_mass": 6, "gradient": leaves}
    shapes |= {"energies": dict.fromkeys(names, n)}
    full = jax.tree_util.tree_map(lambda size: np.full((omega.size, size), np.nan), shapes)
    if known.size:
        given = omega[wanted], starts, multiplicity[wanted]
        modes, motions = own.modes(*given, points, np.zeros(0))
        moved = (motions * masses) @ carried.T
        each = {
            "effective_mass": moved * moved,
            "gradient": np.zeros((wanted.size, 0)),
            "energies": vars(own.energies(omega[wanted], modes)),
        }
        if leaves and isinstance(lowered, LoadedModel):
            del each["gradient"]
            rows = frequency_derivatives(lowered, arm, omega, group, multiplicity, singles)
            full["gradient"][np.ix_(known, np.array([places[x] for x in singles], int))] = rows[
                known
            ]
        elif leaves:
            each["gradient"] = leaf_derivatives(model, omega[wanted], modes, rates(model.parts))
        full["participation"][known] = moved[: known.size]
        mean = jax.tree_util.tree_map(lambda x: cluster_means(x, starts)[: known.size], each)
        for name, values in mean.items():
            if name == "energies":
                for kind in names:
                    full["energies"][kind][known] = values[kind]
            else:
                full[name][known] = values
    return full | {"total_mass": np.einsum("kd,kd,d->k", carried, carried, masses)}
