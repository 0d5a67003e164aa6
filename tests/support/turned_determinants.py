"""The determinant of an arm in the angle of a joint, and counts of one arm after the other."""

import numpy as np

import jaxmodal as jm
from jaxmodal.postures.kinds import turned


def parts(arm, joint, points=41):
    """Sizes of the Fourier coefficients of the determinant in the angle of a joint, beside the largest."""
    turned_arm = turned(arm, "timoshenko", "this test")
    postures = np.repeat(turned_arm.own[:, None], points, axis=1)
    postures[turned_arm.joints.index(joint)] = 2 * np.pi * np.arange(points) / points
    d = turned_arm.determinant(np.arange(points), np.full(points, 2 * np.pi * 40.0), postures)
    values = d.factor * np.exp((d.growth - d.growth[0]) + (d.rest - d.rest[0]))
    found = np.abs(np.fft.rfft(values)) / points
    return turned_arm.degree(joint), found / found.max()


def count_below(arm, omega):
    return int(np.asarray(jm.count_below(arm, omega)))
