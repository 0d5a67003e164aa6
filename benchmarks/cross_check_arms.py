"""Random arms of the kinds at which counts in float64 are hardest: what a campaign draws its cells from.

A case is one base arm and cells of it that differ at a few addresses. Its name, ``kind:seed:number:cells``, makes it
again.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import cross_check_degenerate as degenerate
from benchmarks import cross_check_features as features
from benchmarks.cross_check_draws import Case, Draw

#: by name
KINDS: dict[str, Callable[[Draw], Case]] = {
    f.__name__: f
    for f in (
        features.springs,
        features.masses,
        features.stocky,
        features.offsets,
        features.hubs,
        features.rotors,
        features.rigid_links,
        features.elastic_bases,
        features.steps,
        features.supports,
        features.free_free,
        features.four_bars,
        features.axial_forces,
        features.gravity,
        degenerate.straight,
        degenerate.folded,
        degenerate.right_angles,
        degenerate.coincident,
        degenerate.clouds,
        degenerate.series,
        degenerate.series_clouds,
        degenerate.series_values,
        degenerate.series_values_clouds,
        degenerate.series_in_space,
        degenerate.series_values_in_space,
        degenerate.space,
        degenerate.space_equal,
    )
}
#: cells of a batch of these kinds at the least, that the posture series be taken
SERIES = {
    "series": 7000,
    "series_clouds": 7000,
    "series_in_space": 1000,
    "series_values": 9000,
    "series_values_in_space": 2400,
    "series_values_clouds": 19_500,
}


def case(kind: str, seed: int, number: int, cells: int) -> Case:
    """The case of this name."""
    return KINDS[kind](Draw(kind, seed, number, cells))
