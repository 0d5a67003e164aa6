"""Robots from URDF files beside pinocchio, a library of rigid robots: masses and frequencies are those it reads."""

import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial.test_urdf import FILES, assert_total, path_of, postures

pinocchio = pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")

AT_REST = ("fixed", "floating")


class Witness:
    """A file as pinocchio reads it, at positions of all its joints."""

    def __init__(self, path, positions):
        self.model = pinocchio.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.q = pinocchio.neutral(self.model)
        for name, position in positions.items():
            joint = self.model.joints[self.model.getJointId(name)]
            turned = joint.nq == 2  # a joint without limits: cosine and sine
            own = (np.cos(position), np.sin(position)) if turned else (position,)
            self.q[joint.idx_q : joint.idx_q + joint.nq] = own
        pinocchio.framesForwardKinematics(self.model, self.data, self.q)

    def place(self, link):
        return self.data.oMf[self.model.getFrameId(link, pinocchio.FrameType.BODY)]

    def before(self, joint):
        """The place of a joint, before it turns or slides."""
        number = self.model.getJointId(joint)
        parent = self.data.oMi[self.model.parents[number]]
        return (parent * self.model.jointPlacements[number]).translation

    def total(self):
        """Mass, mass times centre, and tensor about the origin, seen from the root."""
        at_rest = [  # joint 0 of the model stands still and has no inertia there
            at.act(frame.inertia)
            for frame, at in zip(self.model.frames, self.data.oMf, strict=True)
            if frame.parentJoint == 0
        ]
        carried = [
            self.data.oMi[number].act(self.model.inertias[number])
            for number in range(1, self.model.njoints)
        ]
        mass, moment, tensor = 0.0, np.zeros(3), np.zeros((3, 3))
        for own in at_rest + carried:
            c = own.lever
            mass, moment = mass + own.mass, moment + own.mass * c
            tensor = tensor + own.inertia + own.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return mass, moment, tensor

    def jacobian(self, place, joints):
        """(6, n) of what the last joint carries, at a place seen from the root."""
        pinocchio.computeJointJacobians(self.model, self.data, self.q)
        number = self.model.getJointId(joints[-1])
        seen = pinocchio.ReferenceFrame.WORLD
        world = pinocchio.getJointJacobian(self.model, self.data, number, seen).reshape(6, -1)
        columns = [self.model.joints[self.model.getJointId(name)].idx_v for name in joints]
        slid, turned = world[:3, columns], world[3:, columns]
        return np.concatenate([slid + np.cross(turned.T, place).T, turned])

    def frequencies_hz(self, stiffness):
        """Of the joints with springs, the others held."""
        matrix = pinocchio.crba(self.model, self.data, self.q)
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        rows = [self.model.joints[self.model.getJointId(name)].idx_v for name in stiffness]
        root = np.diag(1.0 / np.sqrt([*stiffness.values()]))
        squares = 1.0 / np.linalg.eigvalsh(root @ matrix[np.ix_(rows, rows)] @ root)
        return np.sort(np.sqrt(squares)) / (2.0 * np.pi)


@pytest.mark.parametrize("name", FILES)
def test_mass_centre_tensor_and_frequencies_are_those_of_pinocchio(name):
    """In five postures each; joints that follow others stand where they are put."""
    ends, joints = FILES[name]
    for tree, arm, stiffness in postures(name):
        moving = [joint for joint, e in tree.joints.items() if e.get("type") not in AT_REST]
        witness = Witness(path_of(name), {joint: tree.position(joint) for joint in moving})
        if "base" not in ends:  # of an arm on a vehicle only what moves is known apart
            axes = witness.place(tree.root).rotation
            first = witness.before(joints[0])
            assert_total(arm, axes, first, witness.total())
            np.testing.assert_allclose(
                np.kron(np.eye(2), axes) @ arm.jacobian(),
                witness.jacobian(first + axes @ arm.tip_position(), joints),
                rtol=0.0,
                atol=1e-13,
            )
        np.testing.assert_allclose(
            jm.natural_frequencies(arm, len(joints)).frequencies_hz,
            witness.frequencies_hz(stiffness),
            rtol=1e-9,
        )
