"""Are responses of arms whose lengths or materials vary right where members come from polynomials in these?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.driven import driven_arms
from jaxmodal.response.driven.driven_arms import known_of, link_by_link, link_members, wide
from jaxmodal.response.driven.ports import ports
from jaxmodal.response.driven.systems import system_of
from jaxmodal.response.receptance.answers import responses
from tests.response.arms import bent, with_damping
from tests.response.sums import check_against_40_digits, differences

CELLS = 200
NAMES = ("tip.across", "link_1@0.3.y")
OMEGA = np.geomspace(1.0, 2e4, 90)


def even(low, high, seed=0):
    return np.random.default_rng(seed).uniform(low, high, CELLS)


def system_with(arm, columns, names=NAMES, theory="timoshenko", quantity="receptance"):
    found = ports(names, arm, "inputs")
    given = (tuple(columns), np.array(list(columns.values())))
    return system_of(arm, theory, quantity, found, found, given)


def tables_of(system, omega):
    """Known values of each link: with a table where members vary and polynomials have them."""
    arms = wide(link_by_link(system))
    return arms, [known_of(system, arms, link, omega) for link in range(len(arms.beams))]


def both_ways(arm, columns, monkeypatch, omega=OMEGA, theory="timoshenko", **options):
    """Values and infinities with tables and without."""
    system = system_with(arm, columns, theory=theory, **options)
    assert any(each.table is not None for each in tables_of(system, omega)[1])
    found = responses(system, omega)
    with monkeypatch.context() as patched:
        patched.setattr(driven_arms, "member_table", lambda *_: None)
        return *found, *responses(system, omega)


LONG = {"link1.length": even(0.5, 1.5), "link2.length": even(0.4, 1.0, 1)}
VARIED = {
    "lengths": LONG,
    "a length, a payload and an angle": {
        "link2.length": even(0.4, 1.0, 1),
        "payload.mass": even(0.0, 9.0, 2),
        "theta_2": even(-2.0, 2.0, 3),
    },
    "materials": {
        "link1.youngs_modulus": even(6e10, 2e11),
        "link2.density": even(2e3, 7e3, 1),
    },
    "widths": {"link1.section.width": even(0.02, 0.05)},
    "dampers in the material": {"link2.loss_factor": even(0.03, 0.1)},
}


@pytest.mark.parametrize("varied", VARIED)
def test_against_40_digits(varied, monkeypatch):
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    values, _, truth, _ = both_ways(arm, VARIED[varied], monkeypatch)
    check_against_40_digits(arm, OMEGA, NAMES, VARIED[varied], values, truth)


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_theories_to_beyond_the_cut_off(theory, monkeypatch):
    """Slender links, slow members and fast ones in one range, to the hundredth mode."""
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    omega = np.geomspace(0.1, 4e5, 150)
    columns = {"link1.length": even(0.75, 0.85)}
    values, _, truth, _ = both_ways(arm, columns, monkeypatch, omega, theory)
    check_against_40_digits(arm, omega, NAMES, columns, values, truth, theory)


def test_resonances_without_damping_are_found(monkeypatch):
    arm, cells = bent(), (0, 50)
    here = [jm.set_parameters(arm, {k: float(x[i]) for k, x in LONG.items()}) for i in cells]
    omega = np.concatenate([jm.natural_frequencies(each, 8).omega for each in here])
    values, infinite, truth, where = both_ways(arm, LONG, monkeypatch, omega)
    assert where[0, 0, cells, :].reshape(2, 2, 8)[[0, 1], [0, 1]].all()
    np.testing.assert_array_equal(infinite, where)
    apart = differences(values, truth)[:, :, ~where.any(axis=(0, 1))]
    assert np.quantile(apart, 0.99) < 1e-11


@pytest.mark.parametrize("quantity", ["transmissibility", "dynamic_stiffness"])
def test_quotients_and_a_pinned_tip(quantity, monkeypatch):
    """Quantities and arms that no sum has take tables, too."""
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    pinned = {"support_x_stiffness": np.inf, "support_y_stiffness": np.inf}
    held = arm.replace(links=(arm.links[0], arm.links[1].replace(**pinned)))
    for each, names in ((arm, ("tip.across",)), (held, ("tip_1.across",))):
        options = {"names": names, "quantity": quantity}
        values, infinite, truth, where = both_ways(each, LONG, monkeypatch, **options)
        np.testing.assert_array_equal(infinite, where)
        np.testing.assert_allclose(values, truth, rtol=1e-9, atol=1e-13 * np.abs(truth).max())


def test_tables_have_the_digits_of_members():
    """At lengths that are no nodes, relative to the size of each matrix, where the member itself is not resonant."""
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    system = system_with(arm, LONG)
    arms, known = tables_of(system, OMEGA)
    for link, each in enumerate(known):
        table = each.table.members(slice(0, CELLS))
        for found, exact in zip(table, link_members(system, arms, link, OMEGA), strict=True):
            clear = np.abs(exact.delta) > 0.01
            for name in found._fields[:13]:
                mine, true = (
                    np.broadcast_to(getattr(x, name), clear.shape) for x in (found, exact)
                )
                limit = np.max(np.abs(true), axis=0)
                assert np.max((np.abs(mine - true) / limit)[clear]) < 3e-12, name


def test_where_polynomials_do_not_hold_members_are_computed():
    arm = with_damping(bent(joint_stiffness=2e4), 4)
    long = even(0.5, 1.5)
    rigid = arm.replace(links=(arm.links[0].replace(rigid=True), arm.links[1]))
    cases = (
        (arm, {"link1.length": long}, True),
        (arm, {"link1.length": long, "link1.density": 2700.0 + long}, False),
        (arm, {"link1.section.depth": 0.05 * long}, False),
        (arm, {"link1.length": 10.0 * long - 4.9}, False),
        (arm, {"link1.length": long[:60]}, False),
        (rigid, {"link1.length": long}, False),
    )
    for each, columns, wanted in cases:
        _, known = tables_of(system_with(each, columns), OMEGA)
        assert (known[0].table is not None) == wanted, columns
    _, known = tables_of(system_with(arm, {"link1.length": long}), np.array([1e3, 1e7]))
    assert known[0].table is None
