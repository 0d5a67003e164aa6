"""Links of arms in space added at many frequencies at once, by `with_link` as a recorded formula."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax

from jaxmodal.arithmetic.lane_programs import LaneProgram, kind_of
from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.stiffness.entries import Added, Release, with_link
from jaxmodal.spatial.stiffness.link_entries import LinkEntries, LoadEntries
from jaxmodal.spatial.stiffness.symmetric import Symmetric

#: least number of frequencies at which to record a formula pays: it takes 8 ms a link, once for all arms alike, and
#: saves 0.8 microseconds for each frequency; no more than half of `recursion_in_space.BLOCK`
FEWEST = 1500
#: the same where other postures have the link, too
FEWEST_OF_MANY = 64
#: fields of `Release`: those that tell of lost digits, and those that counts need
_OF_DIGITS, _OF_COUNTS = ("factor", "terms"), ("first", "second", "determinant")


def recorded_link(
    link: LinkEntries,
    planes: Sequence[FreeEndMember],
    squared: Floats,
    w: Symmetric,
    loads: Sequence[LoadEntries],
    asked: frozenset[int],
    counted: bool,
) -> Added:
    """Return `with_link` with its terms at frequencies (F,), up to the joint, in the axes of the link.

    Parameters
    ----------
    asked
        The numbers of the entries of the stiffness that are computed, in the order of `places`; others are `NOTHING`.
    counted
        Whether the releases have what counts need; `NOTHING` otherwise.
    """
    own = link._replace(rotation=[], offset=[])
    given, form = jax.tree_util.tree_flatten((own, list(planes), squared, w.entries, list(loads)))
    program = _recorded(form, tuple(map(kind_of, given)), asked, counted)
    found = iter(program(given, squared.size))
    entries = [next(found) if k in asked else NOTHING for k in range(len(w.entries))]
    releases = []
    for _ in range(3 if planes else 0):
        told = dict.fromkeys(Release._fields, NOTHING)
        told.update((name, next(found)) for name in _fields(counted))
        releases.append(Release(**told))
    pivots = [next(found) for _ in link.springs]
    return Added(Symmetric(entries), releases, pivots, list(found))


def _fields(counted: bool) -> tuple[str, ...]:
    return _OF_DIGITS + _OF_COUNTS if counted else _OF_DIGITS


@functools.lru_cache(maxsize=256)  # some 70 kB each
def _recorded(
    form: Any, kinds: tuple[int, ...], asked: frozenset[int], counted: bool
) -> LaneProgram:
    def flat(*numbers: Any) -> list[Any]:
        link, planes, squared, w, loads = jax.tree_util.tree_unflatten(form, numbers)
        added = with_link(link, planes, squared, Symmetric(w), 0, True, loads, at_joint)
        told = [getattr(x, name) for x in added.releases for name in _fields(counted)]
        entries = [x for k, x in enumerate(added.stiffness.entries) if k in asked]
        return [*entries, *told, *added.pivots, *added.inner[:3]]

    return LaneProgram(flat, kinds)


def at_joint(w: Symmetric, _: LinkEntries) -> Symmetric:
    """Return the stiffness at the joint as it is; see ``onward`` of `with_link`."""
    return w
