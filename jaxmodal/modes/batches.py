"""Sensitivities, energies and effective masses of many arms at frequencies that are known already.

Nothing is searched here: the modes at the frequencies that `natural_frequencies_batch` certified give all
derivatives and energies at once, one compiled call for a block of cells.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import Array
from numpy.typing import NDArray

from jaxmodal.arm.addresses import listed, resolve
from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.arm import Arm, require_planar
from jaxmodal.arm.columns import columns_of, rates_of
from jaxmodal.arm.documents import table
from jaxmodal.arm.loaded import segments
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.eigenspaces.clusters import CLUSTER_TOLERANCE, cluster_means, clusters
from jaxmodal.eigenspaces.energies import Energies
from jaxmodal.eigenspaces.null_spaces import SLOTS
from jaxmodal.frequencies.counts import certify
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.status import Status
from jaxmodal.modes.kernels import CellQuantities, SolvedModes, block
from jaxmodal.modes.spatial_batches import spatial_quantities
from jaxmodal.runtime.devices import available_cores
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.tables import ShowsDatasets, Table
from jaxmodal.spatial.arm import SpatialArm
from jaxmodal.spatial.energies import SpatialEnergies

if TYPE_CHECKING:
    import pandas
    import xarray

#: cells of one compiled call, few enough to stay in cache: where modes coincide, and where all stand apart
_BLOCK = 16
_SIMPLE_BLOCK = 32
#: cells whose derivatives are held at once by all link values, before those by address are made of them
_GATHERED = 8192
#: what the last correction of a null vector may still change, relative
_CONVERGED = 1e-12
#: how far the frequencies of an arm may lie from those that are given, relative: above the brackets of batches
_SAME = 1e-6
_ONE_AT_A_TIME = threading.Lock()


@dataclasses.dataclass(frozen=True, repr=False)
class ModalQuantities(ShowsDatasets):
    """Quantities of K modes of N arms of n links; shapes of unit modal mass; SI units.

    Attributes
    ----------
    derivative : Array, shape (N, K, P)
        ``d omega/d p`` in rad/s per SI unit, for each of the P addresses.
    logarithmic : Array, shape (N, K, P)
        ``d ln omega/d ln p``; 0 for a parameter that is 0 or infinite.
    participation : Array, shape (N, K, 3)
        Participation factors of a base that moves in x, in y (sqrt(kg)) or turns (m sqrt(kg)). Of arms in space
        (N, K, 6): along, then about x, y, z of the ground.
    effective_mass : Array, shape (N, K, 3) or (N, K, 6)
        Effective masses (kg, kg, kg m^2) for the same motions.
    total_mass : Array, shape (N, 3) or (N, 6)
        What moves with the base: mass (kg) for each direction, moment of inertia about the base (kg m^2) for each
        axis.
    energies : Energies or SpatialEnergies
        Peak energies in J by link, arrays of shape (N, K, n).
    individual : Array, shape (N, K)
        True where the numbers are those of this mode alone. False in a cluster of (nearly) equal frequencies:
        there derivatives, effective masses and energies are the means over its modes, which do not depend on
        the choice of a basis; a participation factor does.
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
    addresses: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Return a row for each mode: ranges of the effective masses over the arms, and what matters most."""
        from jaxmodal.modes.batch_tables import quantities_table

        return [quantities_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return all of it as a dataset with dims cell, mode, parameter, excitation, link; derivatives in Hz."""
        from jaxmodal.modes.batch_tables import quantities_dataset

        return quantities_dataset(self)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the sensitivities and derivatives as a data frame, a row for each arm, mode and parameter."""
        return self.to_xarray()[["derivative_hz", "logarithmic", "individual"]].to_dataframe()


def modal_quantities_batch(
    arm: Arm | SpatialArm,
    parameters: Mapping[str, Any],
    frequencies: NaturalFrequencies,
    *,
    addresses: Sequence[str] = (),
    cluster_tolerance: float = CLUSTER_TOLERANCE,
) -> ModalQuantities:
    """Sensitivities, energies and effective masses of many variants of an arm, at their certified frequencies.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm that all cells share but for ``parameters``.
    parameters : mapping of str to array, shape (N,)
        Values by address, as for `natural_frequencies_batch`.
    frequencies : NaturalFrequencies
        What `natural_frequencies_batch` found for them, ``omega`` of shape (N, K).
    addresses : sequence of str
        Parameters to differentiate with respect to; ``link*`` changes all links together.
    cluster_tolerance : float
        Frequencies closer than this, relative, form a cluster and get its means.

    Returns
    -------
    ModalQuantities
        NaN in cells whose frequencies are NaN, and of modes of zero frequency.

    Raises
    ------
    ArmError
        An address is unknown, or frequencies (of the last certified cell) are those of another arm.
    ValueError
        The frequencies are not those of as many cells, or the tolerance is not usable.

    Notes
    -----
    The derivatives are those of `sensitivities`, by the energies of the modes (`energies`). Of a mode that is
    the last of the list, a neighbour beyond the list is noticed when the count at the bracket shows it. Arms in space
    are taken one after the other in NumPy, about 10 ms for each mode of six links.

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
    if not isinstance(arm, SpatialArm):
        require_planar(arm)
    members = [resolve(arm, address) for address in listed(addresses)]
    singles = list(dict.fromkeys(single for group in members for single in group))
    parameters = table("parameters", parameters, ArmError)
    columns = [real_array(value, f"parameters[{a!r}]") for a, value in parameters.items()]
    if not isinstance(frequencies, NaturalFrequencies):
        raise ArmError(
            f"frequencies = {shown(frequencies)}: must be what natural_frequencies_batch found for these parameters."
        )
    frequencies = to_host(frequencies)
    omega, group = np.asarray(frequencies.omega), np.asarray(frequencies.group, np.int64)
    if omega.ndim != 2 or any(column.shape != omega.shape[:1] for column in columns):
        shapes = ", ".join(f"{a}: {c.shape}" for a, c in zip(parameters, columns, strict=True))
        raise ValueError(
            f"frequencies.omega has shape {omega.shape}, the parameters {shapes}; expected (N, K) and (N,):"
            " give what natural_frequencies_batch found for the same parameters"
        )
    _require_those_of(arm, dict(zip(parameters, columns, strict=True)), frequencies)
    first, last = clusters(omega, group, cluster_tolerance)
    alone = (first == last) & (np.asarray(frequencies.multiplicity) == 1)
    energies: type = Energies
    if isinstance(arm, SpatialArm):
        energies = SpatialEnergies
        varied = {
            single: column
            for address, column in zip(parameters, columns, strict=True)
            for single in resolve(arm, address)
        }
        fields = spatial_quantities(arm, varied, frequencies, first, singles, members)
    else:
        values = np.stack(columns) if columns else np.zeros((0, len(omega)))
        given = arm, tuple(parameters), values
        fields = _planar_quantities(*given, frequencies, first, last, singles, members)
    fields = jax.device_put(fields)
    return ModalQuantities(
        **fields | {"energies": energies(**fields["energies"])},
        individual=jax.device_put(alone),
        addresses=tuple(addresses),
    )


def _require_those_of(
    arm: Arm | SpatialArm, parameters: Mapping[str, Any], frequencies: NaturalFrequencies
) -> None:
    """Refuse frequencies of other arms or parameters, by the counts about those of the last certified cell."""
    certified = np.flatnonzero(np.all(np.asarray(frequencies.status) == Status.certified, axis=1))
    if not certified.size:
        return
    cell = int(certified[-1])
    omega = np.asarray(frequencies.omega)[cell]
    own = set_parameters(arm, {address: float(x[cell]) for address, x in parameters.items()})
    found = certify(own, omega[omega > 0.0], frequencies.theory, tolerance=_SAME)
    if not np.all(np.asarray(found.status) == Status.certified):
        raise ArmError(
            f"frequencies: those of cell {cell} are not of this arm with these parameters; give what "
            "natural_frequencies_batch found for the same arm, parameters and order of cells."
        )


def _planar_quantities(
    arm: Arm,
    parameters: tuple[str, ...],
    values: NDArray[np.float64],
    frequencies: NaturalFrequencies,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    singles: Sequence[str],
    members: Sequence[Sequence[str]],
) -> dict[str, Any]:
    """Fields of `ModalQuantities` of planar arms, as `spatial_quantities` has them of arms in space."""
    omega, group = np.asarray(frequencies.omega), np.asarray(frequencies.group, np.int64)
    multiplicity = np.clip(np.asarray(frequencies.multiplicity, np.int64), 1, SLOTS)
    alone = (first == last) & (multiplicity == 1)
    solve = functools.partial(block, theory_flags(frequencies.theory))
    parts = []
    for start in range(0, len(omega), _GATHERED):
        rows = slice(start, start + _GATHERED)
        given = columns_of(arm, parameters, values[:, rows])
        invalid = given.invalid | ~np.isfinite(omega[rows]).all(axis=1)
        cells = SolvedModes(
            packed=np.moveaxis(given.packed, -1, 0),
            omega=np.take_along_axis(np.where(invalid[:, None], 1.0, omega[rows]), group[rows], 1),
            multiplicity=multiplicity[rows],
            slot=np.minimum(np.arange(omega.shape[1]) - group[rows], SLOTS - 1),
        )
        found = _found(solve, cells, alone[rows].all(axis=1))
        rates = rates_of(arm, parameters, values[:, rows], singles)
        found = found._replace(energies=_by_link(arm, found.energies))
        parts.append(_shared(found, cells, invalid, first[rows], singles, members, rates))
    joined: dict[str, Any] = jax.tree_util.tree_map(lambda *x: np.concatenate(x), *parts)
    return joined


def _by_link(arm: Arm, energies: Any) -> Any:
    """Energies over (..., segments) as those of links."""
    number = segments(arm.loads, [link.rigid for link in arm.links])
    if sum(number) == len(number):
        return energies
    starts = np.cumsum([0, *number[:-1]])
    return jax.tree_util.tree_map(lambda x: np.add.reduceat(x, starts, axis=-1), energies)


def _shared(
    found: CellQuantities,
    cells: SolvedModes,
    invalid: NDArray[np.bool_],
    first: NDArray[np.int64],
    singles: Sequence[str],
    members: Sequence[Sequence[str]],
    rates: Iterable[tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> dict[str, Any]:
    """Fields of `ModalQuantities`: derivatives by address, means over clusters, NaN where a cell is invalid."""
    own, relative = {}, {}
    for single, (value, rate) in zip(singles, rates, strict=True):
        own[single] = np.zeros(cells.omega.shape)
        for field, link in np.argwhere(
            rate.any(axis=-1)
        ):  # one by one: no cell depends on the others
            by = rate[field, link][:, None]  # what does not change may have no derivative
            own[single] += np.where(by != 0.0, found.gradient[..., field, link] * by, 0.0)
        finite = np.where(np.isfinite(value), value, 0.0)
        relative[single] = own[single] * finite[:, None] / cells.omega
    none = np.zeros((*cells.omega.shape, 0))

    def by_address(of: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        columns = [sum(of[single] for single in group) for group in members]
        return np.stack(columns, axis=-1) if columns else none

    means = {
        "derivative": by_address(own),
        "logarithmic": by_address(relative),
        "effective_mass": found.effective_mass,
        "energies": found.energies,
    }
    fields = jax.tree_util.tree_map(lambda x: cluster_means(x, first), means)
    fields |= {"participation": found.participation, "total_mass": found.total_mass}
    return jax.tree_util.tree_map(
        lambda x: np.where(invalid.reshape(-1, *[1] * (x.ndim - 1)), np.nan, x), fields
    )


def _taken(cells: SolvedModes, rows: NDArray[np.int64]) -> SolvedModes:
    return SolvedModes(*(x[rows] for x in cells))


def _found(
    solve: Callable[..., CellQuantities], cells: SolvedModes, apart: NDArray[np.bool_]
) -> CellQuantities:
    """All cells: those whose frequencies stand ``apart`` by null vectors; the others and failures by eigenspaces."""
    parts, rest = [], ~apart
    if apart.any():
        rows = np.flatnonzero(apart)
        found = _in_blocks(solve, _taken(cells, rows), True)
        converged = ~(found.change > _CONVERGED).any(axis=1)
        parts.append((rows[converged], jax.tree_util.tree_map(lambda x: x[converged], found)))
        rest[rows[~converged]] = True
    if rest.any():
        rows = np.flatnonzero(rest)
        parts.append((rows, _in_blocks(solve, _taken(cells, rows), False)))
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    joined: CellQuantities = jax.tree_util.tree_map(
        lambda *x: np.concatenate(x)[order], *(found for _, found in parts)
    )
    return joined


def _in_blocks(
    solve: Callable[..., CellQuantities], cells: SolvedModes, simple: bool
) -> CellQuantities:
    """Solve all cells in blocks of one size: side by side where every mode stands apart, else one after another."""
    number, size = len(cells.omega), _SIMPLE_BLOCK if simple else _BLOCK

    def one(start: int) -> CellQuantities:
        at = np.minimum(np.arange(start, start + size), number - 1)
        # two threads that run LAPACK calls of XLA at once on a CPU can wait for each other for ever
        with contextlib.nullcontext() if simple else _ONE_AT_A_TIME:
            found = solve(_taken(cells, at), simple=simple)
            kept: CellQuantities = jax.tree_util.tree_map(np.asarray, found)
        left = number - start
        return jax.tree_util.tree_map(lambda x: x[:left], kept) if left < size else kept

    starts = range(0, number, size)
    with ThreadPoolExecutor(available_cores()) as pool:
        blocks = list(pool.map(one, starts)) if simple else [one(start) for start in starts]
    joined: CellQuantities = jax.tree_util.tree_map(lambda *parts: np.concatenate(parts), *blocks)
    return joined
