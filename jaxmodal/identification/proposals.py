"""Proposals for the next measurement: the posture or sensor with the largest gain of information (D-optimal)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import qmc

from jaxmodal.arm.arguments import positive, positive_integer
from jaxmodal.identification.measurements import (
    MeasuredModes,
    MeasuredResponse,
    require_measured,
    root_mean_square,
    settings_text,
)
from jaxmodal.identification.predictions import modes_of, response_of
from jaxmodal.identification.results import ArmFit
from jaxmodal.identification.uncertainty import UNKNOWN, combinations, covariance_of
from jaxmodal.response.driven.ports import Port, ports
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Floats, Integers
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table
from jaxmodal.workspace.ranges import Ranges

if TYPE_CHECKING:
    import xarray


#: largest number of candidates in a table
_SHOWN = 5


@dataclasses.dataclass(frozen=True, repr=False)
class Proposals(ResolvedResult):
    """Candidates for the next measurement, best first.

    Attributes
    ----------
    what : str
        ``"posture"`` or ``"sensor"``.
    candidates : tuple
        Settings of each candidate, by address; or its outputs.
    texts : tuple of str
        The candidates as text.
    gains : array, shape (C,)
        Increase of the log-determinant of the information matrix; the prior is that each parameter is known to a factor
        of e.
    standard_errors : array, shape (C, P)
        Standard errors of the parameters after that measurement: of the logarithms of positive quantities, for others
        in units of their scale. ``before`` (P,) are the present ones.
    left_open : array of int, shape (C,)
        Number of parameter combinations that remain undetermined; ``open_before`` is the present number.
    names : tuple of str
        Names of the parameters.
    """

    what: str
    candidates: tuple[Any, ...]
    texts: tuple[str, ...]
    gains: Floats
    standard_errors: Floats
    before: Floats
    left_open: Integers
    open_before: int
    names: tuple[str, ...]

    @property
    def best(self) -> Any:
        """The best candidate."""
        return self.candidates[0]

    def tables(self) -> list[Table]:
        """Return a table of the best candidates with the standard errors after the measurement."""
        rows = [
            [
                text,
                f"{self.gains[k]:.3g}",
                str(self.left_open[k]),
                *(_per_cent(error) for error in self.standard_errors[k]),
            ]
            for k, text in enumerate(self.texts[:_SHOWN])
        ]
        now = ", ".join(
            f"{name} {_per_cent(error)}"
            for name, error in zip(self.names, self.before, strict=True)
        )
        headings = (self.what, "gain", "left open", *(f"{name} [%]" for name in self.names))
        notes = [
            f"standard errors now, %: {now}; combinations that the data do not determine now: {self.open_before}",
            f"the best of {len(self.candidates)}; others may be better",
        ]
        title = f"the {self.what} to measure next, and the standard errors that it would leave"
        return [Table(title, headings, rows, notes, (self.what,))]

    def to_xarray(self) -> xarray.Dataset:
        """Return gains and standard errors by candidate and parameter."""
        import xarray

        made = {
            "gain": ("candidate", self.gains),
            "left_open": ("candidate", self.left_open),
            "standard_error": (("candidate", "parameter"), self.standard_errors),
            "standard_error_now": ("parameter", self.before),
        }
        return xarray.Dataset(made, {"candidate": list(self.texts), "parameter": list(self.names)})


def _per_cent(error: float) -> str:
    return f"{100.0 * error:.3g}" if error <= UNKNOWN else "not known"


def next_posture(
    found: ArmFit,
    ranges: Mapping[str, Any] | None = None,
    *,
    candidates: Sequence[Mapping[str, float]] | None = None,
    numbers: Sequence[int] | None = None,
    share: float | None = None,
    count: int = 64,
) -> Proposals:
    """Propose postures in which to measure frequencies next, so that the parameters are known best.

    Parameters
    ----------
    found : ArmFit
        The fit so far.
    ranges : mapping, optional
        Ranges of settings by address, ``{"theta_2": (-1.5, 1.5)}``; by default every joint between its limits. Any
        address can be used, such as ``payload.mass``.
    candidates : sequence of mappings, optional
        Settings to choose from, instead of ranges.
    numbers : sequence of int, optional
        Numbers of the modes to be measured; by default all that have been measured.
    share : float, optional
        Relative standard deviation of a frequency; by default the median of the measured ones.
    count : int
        Number of settings tried, evenly distributed over the ranges.

    Raises
    ------
    ArmError, ValueError
        If no frequencies have been measured and no numbers are given; if a fitted address is to be set; or if a range
        is invalid.
    """
    if not isinstance(found, ArmFit):
        raise ArmError(f"found = {found!r}: must be what fit_arm returned.")
    unknowns = found.unknowns
    arm = found.arm
    if candidates is None:
        inside = Ranges.of(arm, ranges)
        sampler = qmc.Halton(len(inside.addresses), scramble=False)
        shares = sampler.random(positive_integer(count, "count", limits.SAMPLES) + 1)[1:]
        values = inside.values(shares)
        candidates = [dict(zip(inside.addresses, row, strict=True)) for row in values.tolist()]
    elif ranges is not None:
        raise ArmError("ranges and candidates: both are given; give one.")
    if numbers is None:
        numbers = sorted({pair.number for pair in found.pairs})
    if share is None:
        if not found.pairs:
            raise ArmError(
                "share: no frequencies were measured; give their expected relative standard deviation."
            )
        share = float(
            np.median([pair.standard_deviation_hz / pair.measured_hz for pair in found.pairs])
        )
        if not share > 0.0:
            raise ArmError(
                "share: standard deviations are neither given nor shown by residuals; give the share, such as 0.001."
            )
    share = positive("share", share)
    asked = MeasuredModes(np.ones(max(len(numbers), 1)), 1.0, tuple(numbers))
    modes = np.array(asked.numbers)
    added = []
    for settings in candidates:
        require_measured(arm, MeasuredModes([1.0], settings=settings), unknowns.addresses)
        there = unknowns.arm_with(found.values, settings)
        computed = modes_of(unknowns, found.values, there, int(modes.max()), found.theory)
        added.append(computed.slopes[modes - 1] / (share * computed.hertz[modes - 1, None]))
    texts = [settings_text(arm, settings) for settings in candidates]
    return _ranked("posture", found, list(candidates), texts, added)


def next_sensor(found: ArmFit, outputs: Sequence[str | Port]) -> Proposals:
    """Propose which output to measure next, in addition to those of the first response and with the same force.

    Parameters
    ----------
    found : ArmFit
        A fit to responses.
    outputs : sequence of ports
        Ports to choose from; the noise is assumed to be the same fraction of the root mean square as in that response.

    Raises
    ------
    ArmError
        If no responses have been measured, or the arm has no such port.
    """
    if not isinstance(found, ArmFit):
        raise ArmError(f"found = {found!r}: must be what fit_arm returned.")
    measured = [each for each in found.measured if isinstance(each, MeasuredResponse)]
    if not measured:
        raise ArmError("found: is not a fit to responses; sensors are proposed only for these.")
    first = measured[0]
    given = first.standard_deviations
    share = found.scatter if given is None else float(np.median(given / first.size))
    arm = found.unknowns.arm_with(found.values, first.settings)
    names = [str(each) for each in ports(outputs, arm, "outputs")]
    added = []
    for name in names:
        shape = (1, len(first.inputs), first.frequencies_hz.size)
        asked = dataclasses.replace(
            first, outputs=(name,), values=np.ones(shape), standard_deviations=None
        )
        values, slopes = response_of(found.unknowns, found.values, arm, asked, found.theory)
        size = root_mean_square(values)[..., None]
        rates = (slopes / (share * size[..., None])).reshape(-1, slopes.shape[-1])
        added.append(np.concatenate([rates.real, rates.imag]))
    return _ranked("sensor", found, list(names), names, added)


def _ranked(
    what: str, found: ArmFit, candidates: list[Any], texts: list[str], added: list[Floats]
) -> Proposals:
    """Return candidates by the information they add, best first."""
    if not candidates:
        raise ArmError("candidates: is empty; give at least one.")
    sigma = 1.0 if found.known or not np.isfinite(found.scatter) else found.scatter
    known = found.jacobian / sigma if sigma > 0.0 else found.jacobian
    prior = np.eye(known.shape[1])
    before = np.linalg.slogdet(known.T @ known + prior)[1]
    gains, errors, still = [], [], []
    for rows in added:
        if not np.all(np.isfinite(rows)):
            gains.append(-np.inf)
            errors.append(np.full(known.shape[1], np.nan))
            still.append(known.shape[1])
            continue
        both = np.concatenate([known, rows])
        gains.append(np.linalg.slogdet(both.T @ both + prior)[1] - before)
        directions, sizes = combinations(both, 1.0)
        errors.append(np.sqrt(np.diag(covariance_of(directions, sizes))))
        still.append(int(np.sum(sizes > UNKNOWN)))
    order = np.argsort(-np.array(gains), kind="stable")
    return Proposals(
        what=what,
        candidates=tuple(candidates[k] for k in order),
        texts=tuple(texts[k] for k in order),
        gains=np.array(gains)[order],
        standard_errors=np.array(errors)[order],
        before=np.sqrt(np.diag(found.covariance)),
        left_open=np.array(still)[order],
        open_before=int(np.sum(found.direction_errors > UNKNOWN)),
        names=found.names,
    )
