"""Sensitivities, energies and effective masses of many arms at known frequencies.

Nothing is searched: the modes at the frequencies certified by `natural_frequencies_batch` give all
derivatives and energies, in one compiled call for a block of cells.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import Array
from numpy.typing import NDArray

from jaxmodal.arm.addresses import asked_for, set_together
from jaxmodal.arm.arguments import cell_columns
from jaxmodal.arm.arm import Arm, require_arm
from jaxmodal.arm.documents import table
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.eigenspaces.clusters import CLUSTER_TOLERANCE, clusters
from jaxmodal.eigenspaces.energies import Energies
from jaxmodal.frequencies.counts import certify
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.planar_batches import planar_quantities
from jaxmodal.modes.spatial_batches import spatial_quantities
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.energies import SpatialEnergies

if TYPE_CHECKING:
    import pandas
    import xarray

#: how far the frequencies of an arm may lie from those that are given, relative: above the brackets of batches
_SAME = 1e-6


@dataclasses.dataclass(frozen=True, repr=False)
class ModalQuantities(Result):
    """Modal quantities of K modes of N arms with n links; for mode shapes of unit modal mass; SI units.

    Attributes
    ----------
    derivative : Array, shape (N, K, P)
        ``d omega/d p`` in rad/s per SI unit, for each of the P addresses.
    logarithmic : Array, shape (N, K, P)
        ``d ln omega/d ln p``; 0 for a parameter that is 0 or infinite.
    participation : Array, shape (N, K, 3)
        Participation factors of a base that moves in x, in y (sqrt(kg)) or turns (m sqrt(kg)). For arms in space
        (N, K, 6): along, then about the ground's x, y, z.
    effective_mass : Array, shape (N, K, 3) or (N, K, 6)
        Effective masses (kg, kg, kg m^2) for the same motions.
    total_mass : Array, shape (N, 3) or (N, 6)
        Mass (kg) for each direction and moment of inertia about the base (kg m^2) for each axis of everything that
        moves with the base.
    energies : Energies or SpatialEnergies
        Peak energies in J by link, arrays of shape (N, K, n).
    individual : Array, shape (N, K)
        True where the values are those of this mode. False in a cluster of (nearly) equal frequencies: derivatives,
        effective masses and energies are then means over its modes, which do not depend on the choice of a basis;
        participation factors do.
    certified : Array, shape (N, K)
        True where the frequencies are certified.
    addresses : tuple of str
        The parameters.
    """

    derivative: Array
    logarithmic: Array
    participation: Array
    effective_mass: Array
    total_mass: Array
    energies: Energies | SpatialEnergies
    individual: Array
    certified: Array
    addresses: tuple[str, ...]

    @property
    def status(self) -> NDArray[np.int64]:
        """`Status` codes, shape (N, K): resolved, cluster_mean, uncertified (as the frequency), or no_value for NaN."""
        known = ~np.isnan(np.asarray(self.effective_mass)).any(axis=-1)
        known &= ~np.isnan(np.asarray(self.derivative)).any(axis=-1)
        own = np.where(np.asarray(self.individual), int(Status.resolved), int(Status.cluster_mean))
        sure = np.where(np.asarray(self.certified), own, int(Status.uncertified))
        return np.where(known, sure, int(Status.no_value))

    def tables(self) -> list[Table]:
        """Return a table with one row per mode: ranges of the effective masses, most influential parameters."""
        from jaxmodal.modes.batch_tables import quantities_table

        return [quantities_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return the quantities as a dataset with dims cell, mode, parameter, excitation, link; derivatives in Hz."""
        from jaxmodal.modes.batch_tables import quantities_dataset

        return quantities_dataset(self)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return sensitivities and derivatives as a data frame with one row per arm, mode and parameter."""
        return self.to_xarray()[["derivative_hz", "logarithmic", "individual"]].to_dataframe()


def modal_quantities_batch(
    arm: Arm | SpatialArm,
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
    setters = set_together(arm, parameters)
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
    energies: type = Energies
    if isinstance(arm, SpatialArm):
        energies = SpatialEnergies
        varied = {single: columns[address] for single, address in setters.items()}
        found = spatial_quantities(arm, varied, frequencies, singles)
    else:
        values = np.stack(list(columns.values())) if columns else np.zeros((0, len(omega)))
        given = arm, tuple(parameters), values
        found = planar_quantities(*given, frequencies, first, last, singles)
    fields = jax.device_put(found.quantities(first, members))
    return ModalQuantities(
        **fields | {"energies": energies(**fields["energies"])},
        individual=jax.device_put(alone),
        certified=jax.device_put(np.asarray(frequencies.certified)),
        addresses=names,
    )


def _require_those_of(
    arm: Arm | SpatialArm, parameters: Mapping[str, Any], frequencies: NaturalFrequencies
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
