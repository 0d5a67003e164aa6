"""Derivatives of the frequencies of an arm in space under its loads, by addresses: the equilibrium changes, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.array_types import Floats, Integers
from jaxmodal.spatial.preload.energies import frequency_rates
from jaxmodal.spatial.preload.model import LoadedModel


def frequency_derivatives(
    model: LoadedModel,
    arm: SerialArm,
    omega: Floats,
    first: Integers,
    multiplicity: Integers,
    names: Sequence[str],
) -> Floats:
    """Return the derivatives of frequencies by single-value addresses, (K, addresses).

    For a repeated frequency it is that of the group's mean. Zero frequencies have zero derivatives; NaN where there is
    no frequency. ``first`` is the index of the first mode of each group.
    """
    found = np.where(np.isnan(omega)[:, None], np.nan, np.zeros((omega.size, len(names))))
    if model.vibrating is None or not names:
        return found
    chain = model.vibrating.loaded.chain
    for start in np.unique(first[omega > 0.0]):
        members = (first == start) & (omega > 0.0)
        own = float(np.mean(omega[members]))
        count = int(multiplicity[members][0])
        projected = frequency_rates(chain, arm, [own] * count, names)
        found[members] = np.trace(projected) / count
    return found


def derivatives_under_loads(
    arm: SerialArm, model: LoadedModel, found: NaturalFrequencies, names: Sequence[str]
) -> dict[str, Floats]:
    """Return the derivatives of the frequencies by single-value addresses, (K,)."""
    omega, group = np.asarray(found.omega), np.asarray(found.group)
    columns = frequency_derivatives(model, arm, omega, group, np.asarray(found.multiplicity), names)
    return {name: columns[:, k] for k, name in enumerate(names)}


def projection_under_loads(
    arm: SerialArm, model: LoadedModel, found: NaturalFrequencies, rate_of: Mapping[str, float]
) -> Callable[[Integers], Floats]:
    """Return a function that projects the derivative in a direction on m given modes, as a matrix (m, m)."""
    names, rates = list(rate_of), np.array(list(rate_of.values()))
    assert model.vibrating is not None
    chain = model.vibrating.loaded.chain

    def projected_on(members: Integers) -> Floats:
        own = float(np.mean(np.asarray(found.omega)[members]))
        return np.asarray(frequency_rates(chain, arm, [own] * len(members), names) @ rates)

    return projected_on
