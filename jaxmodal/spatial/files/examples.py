"""The built-in arms, planar and in space, stored as TOML files in the package."""

import tomllib
from typing import Any, TypeVar

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.built_in import BuiltIn
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.files.arm_files import arm_from_dict

A = TypeVar("A", Arm, SpatialArm)
_FILES = BuiltIn(("jaxmodal", "data", "arms"), "example", ArmError)


def names() -> list[str]:
    """Return the names of the built-in arms, sorted."""
    return _FILES.names()


def toml_text(name: str) -> str:
    """Return the TOML file of a built-in arm, with its comments.

    Raises
    ------
    ArmError
        If there is no such arm.
    """
    return _FILES.text(name)


def load(name: str) -> AnyArm:
    """Return a built-in arm by name, planar or in space.

    Raises
    ------
    ArmError
        If there is no such arm; the message lists the names.
    X64DisabledError
        If JAX's 64-bit mode is off.
    """
    return arm_from_dict(tomllib.loads(toml_text(name)), source=f"example {name}")


def two_link_flexible(thickness_factor: Any = 1.0) -> Arm:
    """Return the very flexible two-link arm of Table 1 of the source paper, straight.

    Parameters
    ----------
    thickness_factor
        Factor s on the depth of both links: 1, 10, 25, 50 and 100 in Tables 2 to 6.

    Notes
    -----
    Table 1 prints E I and the mass of each link; E = (E I) / I and rho = m / (L b h). The
    Poisson ratio 0.3 and the shear coefficient 0.85 (Cowper's value, rounded) reproduce the
    printed frequencies. The tables use theta_2 = 0, 45 and 90 degrees.

    Examples
    --------
    >>> arm = two_link_flexible()   # Table 2: L1/h = 833.3, h being the thinner link's
    >>> round(float(arm.links[0].length / arm.links[1].section.depth), 1)
    833.3
    """
    return _loaded("two_link_flexible", Arm).with_thickness_factor(thickness_factor)


def three_link_industrial() -> Arm:
    """Return the three-link industrial arm of Table 8 of the source paper, straight.

    Notes
    -----
    The printed frequencies belong to bending across the printed 15 cm, with flanges of 20 cm,
    and to the shear coefficient 0.44. Figure 5 and Tables 9 to 11 use the postures (45, 45),
    (-45, 90), (90, -90) and (-90, -90) degrees for theta_2 and theta_3.

    Examples
    --------
    >>> round(float(three_link_industrial().total_mass), 2)
    135.19
    """
    return _loaded("three_link_industrial", Arm)


def six_axis_industrial() -> SpatialArm:
    """Return a six-axis industrial arm in space: tubes, elastic joints with geared rotors, a payload of 20 kg.

    Notes
    -----
    Not a commercial arm: round values of a common size, reach 1.6 m.

    Examples
    --------
    >>> six_axis_industrial().num_links
    6
    """
    return _loaded("six_axis_industrial", SpatialArm)


def canadarm2_like() -> SpatialArm:
    """Return an arm like Canadarm2: two flexible booms between rigid links, five elastic joints.

    Notes
    -----
    The booms have the E I, E A, G and torsional inertia printed in the paper on spatial arms with flexible links and
    joints. Lengths, masses, payload and E are chosen; comments in its file give the source of each value.

    Examples
    --------
    >>> [link.rigid for link in canadarm2_like().links]
    [True, False, False, True, True]
    """
    return _loaded("canadarm2_like", SpatialArm)


def space_station_arm() -> SpatialArm:
    """Return an arm of a space station: seven elastic joints with geared rotors, two long booms in bending and torsion.

    Notes
    -----
    The values that the paper on spatial arms with flexible links and joints prints for its example are used. Lengths,
    masses, E and the payload are chosen; comments in its file give the source of each value.

    Examples
    --------
    >>> [link.rigid for link in space_station_arm().links]
    [True, True, False, False, True, True, True]
    """
    return _loaded("space_station_arm", SpatialArm)


def _loaded(name: str, kind: type[A]) -> A:
    arm = load(name)
    assert isinstance(arm, kind)
    return arm
