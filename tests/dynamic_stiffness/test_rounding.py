"""Is what rounding may move a mode by as large as what it does move it by, where springs at the base are soft?

Beside the terms that cancel in their pivots: then the sign of the characteristic determinant in float64 changes away
from the mode. Double-double beside it says how far.
"""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.bases import BaseStiffness
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN
from jaxmodal.frequencies.models import model_of

DISTANCE = 1e-8
"""Relative, from the mode: where searches put the ends of their enclosures."""


def on_joint(arm, soft):
    return jm.set_parameters(arm, {"link1.joint_stiffness": soft})


def on_springs(arm, soft):
    first = arm.links[0].replace(joint_axial_stiffness=2.0 * soft, joint_shear_stiffness=soft)
    return arm.replace(links=(first, *arm.links[1:]))


def on_base(arm, soft):
    base = BaseStiffness(soft, 0.7 * soft, 0.1 * soft, 0.0, 0.0, 0.0)
    return arm.replace(base_stiffness=base)


@pytest.mark.parametrize(
    "decades",
    [
        range(1, 8),
        pytest.param(np.arange(1.5, 7.0), marks=pytest.mark.slow, id="between"),
    ],
)
@pytest.mark.parametrize("held", [on_joint, on_springs, on_base])
def test_no_more_is_rounded_than_is_said(held, decades):
    largest = 0.0
    for factor in (1.0, 10.0, 25.0):
        straight = jm.examples.two_link_flexible(factor).with_posture_deg([0.0])
        rigid = straight.replace(
            links=tuple(link.replace(joint_stiffness=math.inf) for link in straight.links)
        )
        for soft in 10.0 ** np.array(decades):
            arm = held(rigid, float(soft))
            model = model_of(arm, "timoshenko")
            omega = np.asarray(jm.natural_frequencies(arm, 8).omega)
            for side in (-DISTANCE, DISTANCE):
                at = omega[omega > 0.0] * (1.0 + side)
                plain = model.evaluate(at, Arithmetic.float64)
                exact = model.evaluate(at, Arithmetic.double_double)
                ratio = plain.sign * exact.sign * np.exp(plain.log_abs - exact.log_abs)
                moved = DISTANCE * np.abs(ratio - 1.0)
                assert np.all(moved <= CERTAIN * plain.noise), (factor, soft, moved, plain.noise)
                largest = max(largest, moved.max())
    assert largest > 1e-15, "nothing was rounded: the check is empty"
