"""MuJoCo as a witness: frequencies of a file by its own mass matrix, with the stiffness of its joints and servos."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")


def loaded(path):
    return mujoco.MjModel.from_xml_path(str(path))


def named(model, number):
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, number)


def stiffness(model):
    """Of every joint: its spring, or the servo that leads to it."""
    found = np.array([np.ravel(model.jnt_stiffness[k])[0] for k in range(model.njnt)])
    for number in range(model.nu):
        if model.actuator_biastype[number] == mujoco.mjtBias.mjBIAS_AFFINE:
            found[model.actuator_trnid[number][0]] += model.actuator_gainprm[number][0]
    return found


def data_at(model, joints, posture):
    data = mujoco.MjData(model)
    for number in range(model.njnt):
        if named(model, number) in joints:
            data.qpos[number] = posture[joints.index(named(model, number))]
    mujoco.mj_forward(model, data)
    return data


def frequencies_hz(model, joints, posture, modes):
    """Of what has a stiffness, with all other joints held."""
    data = data_at(model, joints, posture)
    matrix = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, matrix)
    except TypeError:  # the order of arguments before 4.0
        mujoco.mj_fullM(model, matrix, data.qM)
    springs = stiffness(model)
    gives = np.flatnonzero(springs > 0.0)
    root = np.diag(1.0 / np.sqrt(springs[gives]))
    squares = np.linalg.eigvalsh(root @ matrix[np.ix_(gives, gives)] @ root)[::-1]
    return 1.0 / (2.0 * np.pi * np.sqrt(squares[:modes]))
