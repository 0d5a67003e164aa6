"""pinocchio reads the URDF of rigid pieces, and with the springs of the file beside it has their frequencies."""

import tomllib

import numpy as np
import pytest

from jaxmodal.exchange import write_urdf
from tests.exchange.cases import planar_arm

pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")


def test_frequencies_are_those_of_the_table(tmp_path):
    from tests.spatial.test_urdf_witness import Witness

    found = write_urdf(planar_arm(), tmp_path / "arm.urdf", pieces=2, postures=4)
    beside = tomllib.loads((tmp_path / "arm.toml").read_text())
    springs = {**beside["joint_stiffness"], **beside["slide_stiffness"]}
    for posture, hertz in zip(found.postures, found.frequencies_hz, strict=True):
        witness = Witness(tmp_path / "arm.urdf", dict(zip(found.joints, posture, strict=True)))
        seen = witness.frequencies_hz(springs)[:5]
        np.testing.assert_allclose(seen, hertz, rtol=1e-9, atol=0.0)
