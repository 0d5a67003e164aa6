"""Are the closed forms of shape integrals what quadrature gives, and what the equations have as constants?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm
from jaxmodal.symbolic import closed_form_integrals, closed_form_values, written_equations
from tests.support.dynamics_cases import uniform_link

LINK = {"length": 0.7, "bending": 1.3, "line_mass": 0.8}


def test_integrals_of_two_shapes_of_two_links():
    """Quadrature agrees; the second link carries a payload and a body, the first the stator of the next joint."""
    pytest.importorskip("sympy")
    links = (
        uniform_link(**LINK, hub_inertia=0.1),
        uniform_link(0.5, 0.9, 0.6, hub_mass=0.3, stator_mass=0.2, tip_mass=0.1, tip_inertia=1e-3),
    )
    arm = jm.Arm(links, jm.Payload(0.25, 0.004))
    values = closed_form_values(arm, 2)
    model = flexible_arm(arm, 2)
    symbols = written_equations(model, ["B", "h", "K"]).symbols
    compared = 0
    for link in (1, 2):
        forms = closed_form_integrals(link, 2)
        own = {name: symbols[name].value for name in forms if name in symbols}
        # differences of fourth derivatives cancel to a few parts in 1e12; k_12 is 0 by orthogonality
        largest = np.sqrt(own[f"k_{link}_1_1"] * own[f"k_{link}_2_2"])
        for name, value in own.items():
            form = forms[name]
            found = float(form.subs({symbol: values[str(symbol)] for symbol in form.free_symbols}))
            size = largest if name.startswith("k_") else abs(value)
            assert abs(found - value) < 1e-10 * size, name
        compared += len(own)
    # phi, dphi, Gamma, v, w, z and k of two shapes; of link 1, whose base does not move, the equations need no v,
    # and of link 2, beyond whose end nothing moves, no phi and Gamma
    assert compared >= 24
    assert {"v_2_1", "w_1_2", "z_2_1_2", "Gamma_1_1_2", "phi_1_1", "dphi_1_2"} <= set(symbols)


def test_what_has_no_closed_form_is_refused():
    rigid = jm.Arm((uniform_link(**LINK).replace(rigid=True),))
    with pytest.raises(jm.ArmError, match="link 1 between joints is rigid"):
        closed_form_values(rigid, 1)
    pieces = jm.attach_body(jm.Arm((uniform_link(**LINK),)), 1, 0.3, 0.2)
    with pytest.raises(jm.ArmError, match="link 1 between joints has several pieces"):
        closed_form_values(pieces, 1)
    with pytest.raises(jm.ArmError, match="link = 0"):
        closed_form_integrals(0, 1)
