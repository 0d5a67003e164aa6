"""The certificate: counts on both sides of every frequency prove that no mode is missing and none is spurious."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jax import lax

from jaxmodal.dynamic_stiffness.evaluation import CERTAIN, Evaluation
from jaxmodal.frequencies.tables import certificate_text
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.namespace import Array, at_once, cummax, on_host, to_host, xp
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status, remarks_on, status_variable
from jaxmodal.runtime.tables import Table, shortened

if TYPE_CHECKING:
    import xarray

#: Frequencies closer than this, relative, form one group; the certificate encloses each frequency to this distance.
TOLERANCE = 1e-12


#: how far from the frequencies their enclosures may have their middle, in units of the tolerance
ABOUT = 0.05

#: ends of an enclosure are moved by rounding by this share of their distances at the most
_CLEAR = 0.5

#: unit in the last place of one, and of `Certificate.residual_ratio`
EPS = 2.0**-52


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Certificate(Result):
    """Result of the counts for a list of frequencies.

    Attributes
    ----------
    status : Array, shape (..., K)
        `Status` codes.
    count_below, count_above : Array, shape (..., K)
        J, the number of natural frequencies below the lower and below the upper end of ``bracket``.
    bracket : Array, shape (..., K, 2)
        The two frequencies in rad/s at which the counts were taken.
    group : Array, shape (..., K)
        Index of the first entry of this entry's group; entries closer than the tolerance form one group.
    residual_ratio : Array, shape (..., K)
        Relative distance between the frequency and the mode, estimated from the determinant, in units of 2.2e-16.
    """

    status: Array
    count_below: Array
    count_above: Array
    bracket: Array
    group: Array
    residual_ratio: Array

    @property
    def certified(self) -> Array:
        """True where the counts confirm that this frequency is a mode and has this mode number."""
        return at_once(lambda status: status == Status.certified, self.status)

    @property
    def multiplicity(self) -> Array:
        """Number of natural frequencies inside the bracket of each entry's group."""
        return at_once(operator.sub, self.count_above, self.count_below)

    @property
    def left_out(self) -> Array:
        """Number of natural frequencies in the last bracket that are not listed; shape (...).

        It is not 0 where the list ends inside a repeated frequency, or inside a pair closer than the tolerance: the
        last entry is a mode, and the next mode has the same frequency.
        """

        def beyond(group: Array, multiplicity: Array) -> Array:
            if group.shape[-1] == 0:  # a band without modes
                return xp.zeros_like(group, shape=group.shape[:-1])
            return xp.maximum(multiplicity[..., -1] - (group.shape[-1] - group[..., -1]), 0)

        return at_once(beyond, self.group, self.multiplicity)

    def tables(self) -> list[Table]:
        """Return the table of the status of each frequency."""
        bracket = np.asarray(self.bracket) / (2.0 * np.pi)
        rows = [
            [
                str(k + 1),
                f"{bracket[k, 0]:.12g} to {bracket[k, 1]:.12g}",
                f"{int(self.count_below[k])}, {int(self.count_above[k])}",
                certificate_text(code),
            ]
            for k, code in enumerate(np.asarray(self.status).tolist())
        ]
        headings = ("entry", "bracket [Hz]", "modes below its ends", "certificate")
        title = f"certificate of {len(rows)} frequencies"
        notes = remarks_on(self.status)
        return [Table(title, headings, shortened(rows), notes, ("certificate",))]

    def to_xarray(self) -> xarray.Dataset:
        """Return the status of each frequency as a dataset with the dim entry, and cell for a batch; brackets in Hz."""
        import xarray

        found, dims = to_host(self), self._dims("entry")
        variables = {"status": status_variable(dims, found.status), **found._count_variables(dims)}
        left = variable(dims[:-1], found.left_out, "natural frequencies left out")
        entries = np.arange(1, np.shape(found.status)[-1] + 1)
        return xarray.Dataset({**variables, "left_out": left}, {"entry": entries})

    def _dims(self, last: str) -> tuple[str, ...]:
        """Return the dimensions of a variable with one value per entry: ``last``, preceded by cell for a batch."""
        leading = [f"cell_{k}" for k in range(np.ndim(self.status) - 1)]
        return (*(leading if len(leading) > 1 else ["cell"] * len(leading)), last)

    def _count_variables(self, dims: tuple[str, ...]) -> dict[str, Any]:
        """Return counts and brackets of each entry as variables of a dataset."""
        texts = {
            "certified": "whether the counts confirm the mode",
            "count_below": "natural frequencies below the bracket",
            "count_above": "natural frequencies below the upper end of the bracket",
            "multiplicity": "natural frequencies inside the bracket",
        }
        return {name: variable(dims, getattr(self, name), text) for name, text in texts.items()} | {
            "bracket_lower": in_hertz(dims, self.bracket[..., 0], "lower end of the bracket"),
            "bracket_upper": in_hertz(dims, self.bracket[..., 1], "upper end of the bracket"),
        }


class Claims(NamedTuple):
    """Groups of claimed frequencies, shape (K,).

    They are the first and the last entry of each entry's group, and the ends of its bracket.
    """

    first: Array
    last: Array
    below: Array
    above: Array

    @classmethod
    def of(cls, omega: Array, num_modes: Array, tolerance: Array) -> Claims:
        """Return the groups of the frequencies given to `confirm`."""
        index = np.arange(omega.shape[0])
        used = index < num_modes
        gap = xp.where(used[1:], omega[1:] - omega[:-1], xp.inf)
        starts = xp.concatenate([np.ones(1, bool), ~(gap <= tolerance * omega[1:])])
        first = cummax(xp.where(starts, index, 0))
        ends = xp.concatenate([starts[1:], np.ones(1, bool)])
        last = -cummax(-xp.where(ends, index, omega.shape[0] - 1)[::-1])[::-1]
        previous = xp.where(first > 0, omega[xp.maximum(first - 1, 0)], 0.0)
        beyond = xp.minimum(last + 1, omega.shape[0] - 1)
        further = (last + 1 < omega.shape[0]) & used[beyond]
        following = xp.where(further, omega[beyond], xp.inf)
        below = xp.maximum(omega[first] * (1.0 - tolerance), 0.5 * (previous + omega[first]))
        above = xp.minimum(omega[last] * (1.0 + tolerance), 0.5 * (omega[last] + following))
        return cls(first, last, below, above)

    def points(self, omega: Array) -> Array:
        """Return the frequencies to evaluate, shape (3, K)."""
        points = xp.stack([self.below, omega, self.above])
        return xp.where(points > 0.0, points, xp.nan)


def confirm(
    evaluate: Callable[[Array], Evaluation],
    omega: Array,
    modes: Array,
    num_modes: Array,
    tolerance: Array,
    about: Array | None = None,
) -> Certificate:
    """Return the certificate of claimed frequencies, from counts on both sides of each group.

    Parameters
    ----------
    evaluate : Callable
        Count and determinant at frequencies of shape (K,).
    omega : Array
        Ascending frequencies in rad/s, shape (K,).
    modes : Array
        Their claimed mode numbers, from 1, shape (K,).
    num_modes : Array
        Number of claims among the K entries; the rest is padding.
    tolerance : Array
        Relative half-width of the enclosures, and the distance below which neighbours form one group.
    about : Array, shape (K,), optional
        Estimates of single modes, closer to the frequencies than `ABOUT` times the tolerance, that are evaluated in
        place of the frequencies, and about which the ends lie.

    Notes
    -----
    The counts are taken at a relative distance ``tolerance`` from the group, or half-way to the
    neighbouring group where that is nearer.
    A group is confirmed when J below is at most its first mode number less one and J above at least its last, and when
    both counts have the parity of the sign of the determinant, which is computed independently of them, and lie farther
    from the group than rounding can move them.
    """
    centre = omega if about is None else about
    claims = Claims.of(centre, num_modes, tolerance)
    first, last, below, above = claims
    positive = claims.points(centre)
    values = evaluate(positive) if on_host(omega) else lax.map(evaluate, positive)
    even = values.count % 2 == 0
    agrees = ((values.sign > 0.0) == even) & (values.sign != 0.0)
    # an end that rounding may move to the other side of a mode proves nothing
    apart = xp.stack([omega[first] - below, above - omega[last]])
    clear = CERTAIN * values.noise[np.array([0, 2])] * omega[None] < _CLEAR * apart
    consistent = agrees[0] & agrees[2] & clear[0] & clear[1]
    multiplicity = xp.maximum(values.count[2] - values.count[0], 1).astype(omega.dtype)
    chord = xp.logaddexp(values.log_abs[0], values.log_abs[2])
    missed = xp.exp(xp.minimum((values.log_abs[1] - chord) / multiplicity, 0.0)) * (above - below)
    if about is not None:  # the mode lies above where the sign is that of the lower end
        upward = xp.where(values.sign[1] == values.sign[0], 1.0, -1.0)
        missed = xp.abs(upward * missed - (omega - about))
    ordered = xp.concatenate([np.ones(1, bool), ~(omega[1:] < omega[:-1])])
    enclosed = (values.count[0] <= modes[first] - 1) & (values.count[2] >= modes[last])
    confirmed = enclosed & consistent & ordered & xp.isfinite(omega) & (omega > 0.0)
    return Certificate(
        status=xp.where(confirmed, int(Status.certified), int(Status.uncertified)),
        count_below=values.count[0],
        count_above=values.count[2],
        bracket=xp.stack([below, above], axis=-1),
        group=first,
        residual_ratio=missed / omega / EPS,
    )
