"""Links that bend and twist at once: beside links cut in pieces, and beside Exudyn's geometrically exact beams.

What compiles: states of rest of one to four pieces a link, two simulations. Exudyn is optional.
"""

import numpy as np
import pytest

from benchmarks import l_frame

WEAK, STRONG = l_frame.GRAVITIES[0], l_frame.GRAVITIES[-1]
needs_exudyn = pytest.mark.skipif(
    not l_frame.has_exudyn(), reason="Exudyn is not installed: pip install exudyn"
)


def away(found, exact):
    """Difference over the displacement."""
    return np.linalg.norm(found - exact) / np.linalg.norm(exact - l_frame.STRAIGHT)


@pytest.mark.slow
def test_second_order_leaves_the_square_of_the_deflection_and_foreshortening_alone_its_first_power():
    """Gravity four times as strong; pieces without the terms of second order converge to the same."""
    rows = []
    for gravity in (WEAK, STRONG):
        cut = l_frame.in_pieces(gravity)
        exact = cut["pieces, limit"]
        rows.append(
            {
                name: away(l_frame.tip_at_rest(gravity, **choices), exact)
                for name, choices in l_frame.WAYS.items()
            }
            | {name: away(tip, exact) for name, tip in cut.items() if tip is not exact}
        )
    weak, strong = rows
    for name in ("no foreshortening", "foreshortening", "2 pieces"):
        assert 3.5 < strong[name] / weak[name] < 4.5, name
    assert 13.0 < strong["second order"] / weak["second order"] < 19.0
    assert strong["second order"] < 2.5e-3 < 9e-3 < strong["foreshortening"]
    assert 3.5 < strong["2 pieces"] / strong["4 pieces"] < 4.5


@pytest.mark.slow
@needs_exudyn
def test_at_rest_it_is_where_geometrically_exact_beams_are():
    found = {}
    for gravity in (WEAK, STRONG):
        coarse, fine = (l_frame.exudyn_tip(gravity, elements) for elements in (12, 24))
        exact = fine + (fine - coarse) / 3.0
        assert away(fine, exact) < 1e-3
        found[gravity] = [
            away(l_frame.tip_at_rest(gravity, **choices), exact)
            for choices in l_frame.WAYS.values()
        ]
    print(f"at rest: {found}")
    assert found[WEAK][2] < 3e-4
    assert found[STRONG][2] < 2.5e-3 < 9e-3 < found[STRONG][1] < found[STRONG][0]


@pytest.mark.slow
@needs_exudyn
def test_let_go_it_moves_as_geometrically_exact_beams_do():
    rows = l_frame.motion((19.62,))
    (row,) = rows
    assert row["second order"] < 5e-3
    assert row["foreshortening"] > 2.0 * row["second order"]
