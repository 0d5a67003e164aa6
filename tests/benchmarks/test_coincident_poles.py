"""Counts and certificates beside a frequency at which every link, held at one end, resonates by itself."""

import dataclasses

import numpy as np
import pytest

import jaxmodal as jm
from benchmarks import campaign, extended_counts
from benchmarks.cross_check_arms import KINDS, case

if extended_counts.missing() is not None:
    pytest.skip(extended_counts.missing(), allow_module_level=True)

#: distances from a mode at which it is counted, relative
DISTANCES = np.array([1e-12, 1e-11, 1e-10, 1e-9, 2e-9, 4e-9, 1e-8, 1e-7])


@pytest.mark.parametrize("cell", range(4))
def test_double_double_counts_equal_links_folded(cell):
    """A mode is at the clamped-free frequency of each of three equal links: four poles meet in the condensation."""
    given = case("folded", 0, 0, 20)
    arm, values = campaign.cell_of(given, cell), campaign.values_of(given)[cell : cell + 1]
    own = float(jm.natural_frequencies(jm.Arm(arm.links[:1]), 1, theory=given.theory).omega[0])
    apart = extended_counts.relative_errors(values, given.theory, np.array([[own]]), np.array([3]))
    mode = own / (1.0 + apart[0, 0])
    for centre in (mode, own):
        omega = centre * (1.0 + np.concatenate([-DISTANCES, DISTANCES]))
        expected = extended_counts.counts_below(values, given.theory, omega[None])[0]
        np.testing.assert_array_equal(jm.count_below(arm, omega, theory=given.theory), expected)


@pytest.mark.parametrize(
    "cells", [range(4, 7), pytest.param([*range(4), *range(7, 20)], marks=pytest.mark.slow)]
)
def test_a_batch_of_equal_links_folded(cells):
    """Some of twenty; the first are looked at above."""
    given = case("folded", 0, 0, 20)
    some = {address: column[list(cells)] for address, column in given.parameters.items()}
    found = campaign.check_case(dataclasses.replace(given, parameters=some), "folded:0:0:20")
    assert (found.certified_and_wrong, found.beyond_bound) == (0, 0), found.offenders[:3]


def test_a_batch_of_equal_links_folded_in_space():
    """Of these cells the formulas of whole links have no digit left at a mode, even in double-double."""
    given = case("space_equal", 31, 1, 1024)
    drowned = [0, 2, 3, 13]
    some = {address: column[drowned] for address, column in given.parameters.items()}
    found = campaign.check_case(dataclasses.replace(given, parameters=some), "space_equal")
    assert (found.certified_and_wrong, found.beyond_bound) == (0, 0), found.offenders[:3]
    assert found.certified == found.modes


@pytest.mark.slow
@pytest.mark.parametrize("kind", [name for name in KINDS if not name.startswith("series")])
def test_no_certified_mode_is_wrong(kind):
    """Brackets hold by counts in 113-bit floats; one frequency in a thousand may exceed what is stated of it."""
    _hold(campaign.check_case(case(kind, 11, 0, 600), f"{kind}:11:0:600"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "number"),
    [("auto", 23), ("auto", 14), ("portable", 23), ("portable", 5), ("portable", 17)],
)
def test_what_float64_states_in_space_holds(kernel, number):
    """Soft and stiff springs, heavy and light bodies: each batch had some of 8,192 modes beyond before."""
    found = campaign.check_case(case("space", 11, number, 1024), "space", kernel)
    _hold(found)
    assert found.certified == found.modes
    assert found.beyond_bound == 0, found.offenders[:3]


@pytest.mark.slow
def test_a_mode_close_beyond_the_last_one_sought_spoils_no_frequency():
    """No chord divides a mode out that nobody looks for: the last of these were off by 16 times what was stated."""
    found = campaign.check_case(case("space", 11, 14, 1024), "space", "portable")
    assert found.beyond_bound == 0, found.offenders[:3]


def _hold(found):
    assert found.certified > 0.25 * found.modes  # of axial forces, most are beyond buckling
    assert found.certified_and_wrong == 0, found.offenders[:3]
    assert found.beyond_bound <= 1e-3 * found.certified, found.offenders[:3]
    assert found.largest_error < 1e-12
