"""Sensitivities, energies and effective masses of many arms at known frequencies.

Nothing is searched: the modes at the frequencies certified by `natural_frequencies_batch` give all
derivatives and energies, in one compiled call for a block of cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arm.addresses import asked_for, set_together
from jaxmodal.arm.arguments import cell_columns
from jaxmodal.arm.arm import Arm, require_arm
from jaxmodal.arm.documents import table
from jaxmodal.arm.kinds import ByKind
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.eigenspaces.clusters import CLUSTER_TOLERANCE, clusters
from jaxmodal.eigenspaces.energies import Energies
from jaxmodal.frequencies.counts import certify
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.batch_results import ModalQuantities
from jaxmodal.modes.cell_fields import CellFields
from jaxmodal.modes.planar_batches import planar_quantities
from jaxmodal.modes.spatial_batches import cell_derivatives, spatial_quantities
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.modes.energies import SpatialEnergies

#: how far the frequencies of an arm may lie from those that are given, relative: above the brackets of batches
_SAME = 1e-6


def modal_quantities_batch(
    arm: AnyArm,
    parameters: Mapping[str, Any],
    frequencies: NaturalFrequencies,
    *,
    addresses: Sequence[str] = (),
    cluster_tolerance: float = CLUSTER_TOLERANCE,
) -> ModalQuantities:
    """Return sensitivities, energies and effective masses of many variants of an arm at known frequencies.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm; cells differ from it only in ``parameters``.
    parameters : mapping of str to array, shape (N,)
        Values by address, as for `natural_frequencies_batch`.
    frequencies : NaturalFrequencies
        Result of `natural_frequencies_batch` for them, ``omega`` of shape (N, K).
    addresses : sequence of str
        Parameters to differentiate by; ``link*`` changes all links together.
    cluster_tolerance : float
        Relative distance below which frequencies form a cluster, for which means are returned.

    Returns
    -------
    ModalQuantities
        NaN in cells whose frequencies are NaN, and for modes of zero frequency.

    Raises
    ------
    ArmError
        If an address is unknown, or the frequencies (of the last certified cell) are those of another arm.
    ValueError
        If the number of cells differs from that of the frequencies, or the tolerance is invalid.

    Notes
    -----
    The derivatives are those of `sensitivities`, computed from the energies of the modes (`energies`). A cluster
    that continues beyond the last listed mode is detected only if the count at its bracket shows it. Arms in space
    are computed one after the other in NumPy, about 8 ms per mode for six links.

    Examples
    --------
    >>> import jaxmodal as jm, numpy as np
    >>> arm = jm.examples.two_link_flexible()
    >>> cells = {"link2.joint_angle": np.radians([0, 90])}
    >>> found = jm.natural_frequencies_batch(arm, cells, num_modes=3)
    >>> table = jm.modal_quantities_batch(arm, cells, found, addresses=["link*.youngs_modulus"])
    >>> table.logarithmic.round(9)[:, 0, 0].tolist()   # omega goes with the root of E
    [0.5, 0.5]
    """
    require_arm(arm)
    names, members = asked_for(arm, addresses)
    singles = list(dict.fromkeys(single for group in members for single in group))
    parameters = table("parameters", parameters, ArmError)
    set_together(arm, parameters)
    columns = cell_columns(parameters)
    if not isinstance(frequencies, NaturalFrequencies):
        raise ArmError(
            f"frequencies = {shown(frequencies)}: must be what natural_frequencies_batch found for these parameters."
        )
    frequencies = to_host(frequencies)
    omega, group = np.asarray(frequencies.omega), np.asarray(frequencies.group, np.int64)
    if omega.ndim != 2 or any(column.shape != omega.shape[:1] for column in columns.values()):
        shapes = ", ".join(f"{a}: {c.shape}" for a, c in columns.items())
        raise ValueError(
            f"frequencies.omega has shape {omega.shape}, the parameters {shapes}; expected (N, K) and (N,):"
            " give what natural_frequencies_batch found for the same parameters"
        )
    _require_those_of(arm, columns, frequencies)
    first, last = clusters(omega, group, cluster_tolerance)
    alone = (first == last) & (np.asarray(frequencies.multiplicity) == 1)
    kind = _KINDS.of(arm)
    found = kind.quantities(arm, columns, frequencies, first, last, singles)
    fields = jax.device_put(found.quantities(first, members))
    return ModalQuantities(
        **fields | {"energies": kind.energies(**fields["energies"])},
        individual=jax.device_put(alone),
        certified=jax.device_put(np.asarray(frequencies.certified)),
        addresses=names,
    )


def derivatives_of_cells(
    arm: AnyArm,
    parameters: Mapping[str, np.ndarray],
    found: NaturalFrequencies,
    addresses: Sequence[str],
) -> np.ndarray:
    """Return only the derivatives of `modal_quantities_batch`, (N, K, P); ``parameters`` must be valid values."""
    return _KINDS.of(arm).derivatives(arm, parameters, found, addresses)


class _Kind(NamedTuple):
    """What gives modal quantities, their derivatives alone, and energies by name, of cells of one kind of arm."""

    quantities: Callable[..., CellFields]
    derivatives: Callable[..., np.ndarray]
    energies: Callable[..., Any]


def _planar_derivatives(
    arm: Arm,
    parameters: Mapping[str, np.ndarray],
    found: NaturalFrequencies,
    addresses: Sequence[str],
) -> np.ndarray:
    table = modal_quantities_batch(arm, parameters, found, addresses=addresses)
    return np.asarray(table.derivative)


_KINDS = ByKind(
    plane=_Kind(planar_quantities, _planar_derivatives, Energies),
    space=_Kind(spatial_quantities, cell_derivatives, SpatialEnergies),
)


def _require_those_of(
    arm: AnyArm, parameters: Mapping[str, Any], frequencies: NaturalFrequencies
) -> None:
    """Refuse frequencies of another arm or other parameters, by counts at those of the last certified cell."""
    certified = np.flatnonzero(np.all(np.asarray(frequencies.status) == Status.certified, axis=1))
    if not certified.size:
        return
    cell = int(certified[-1])
    omega = np.asarray(frequencies.omega)[cell]
    own = set_parameters(arm, {address: float(x[cell]) for address, x in parameters.items()})
    found = certify(own, omega[omega > 0.0], theory=frequencies.theory, tolerance=_SAME)
    if not np.all(np.asarray(found.status) == Status.certified):
        raise ArmError(
            f"frequencies: those of cell {cell} are not of this arm with these parameters; give what "
            "natural_frequencies_batch found for the same arm, parameters and order of cells."
        )
