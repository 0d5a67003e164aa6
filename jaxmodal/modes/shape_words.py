"""How mode shapes of planar arms and of arms in space are told: names and units of fields, energies, masses, axes."""

from __future__ import annotations

from typing import NamedTuple


class ShapeWords(NamedTuple):
    """Words of the tables and datasets of mode shapes.

    Attributes
    ----------
    fields
        Meaning and unit of each displacement, rotation and section force.
    energies
        Meaning of each energy.
    shares
        Columns of shares of the strain energy, each with the energies that it adds up.
    masses
        Headings of the effective masses, by the motion of the base.
    decimals
        Digits of effective masses behind the point.
    notes
        Notes below the table.
    place
        What the title says of the kind of arm.
    axes, ground
        Names of the axes, and whose they are.
    motions
        Units of the motions that are given in these axes.
    """

    fields: dict[str, tuple[str, str]]
    energies: dict[str, str]
    shares: dict[str, tuple[str, ...]]
    masses: dict[str, str]
    decimals: int
    notes: tuple[str, ...]
    place: str
    axes: str
    ground: str
    motions: dict[str, str]


IN_THE_PLANE = ShapeWords(
    fields={
        "u": ("axial displacement", "m"),
        "v": ("transverse displacement", "m"),
        "psi": ("rotation of the section", "rad"),
        "normal": ("normal force", "N"),
        "shear": ("shear force", "N"),
        "moment": ("bending moment", "N m"),
    },
    energies={
        "bending": "strain energy of bending",
        "shear": "strain energy of shear",
        "axial": "strain energy of axial strain",
        "joint": "strain energy of the joint's springs",
        "translation": "kinetic energy of translation",
        "rotation": "kinetic energy of rotary inertia",
        "body_translation": "kinetic energy of translation of the body at the tip",
        "body_rotation": "kinetic energy of rotation of the body at the tip",
        "hub": "kinetic energy of the hub and the rotor at the joint",
        "preload": "strain energy of static forces",
    },
    shares={
        "bending %": ("bending",),
        "shear %": ("shear",),
        "axial %": ("axial",),
        "joints %": ("joint",),
        "preload %": ("preload",),
    },
    masses={"x": "mass x %", "y": "mass y %", "rotation": "inertia %"},
    decimals=2,
    notes=(
        "bending to joints: shares of the strain energy; bodies: share of the kinetic energy;",
        "mass, inertia: effective for a base that moves in x, in y, or turns.",
    ),
    place="",
    axes="xy",
    ground="base",
    motions={"displacement": "m"},
)
IN_SPACE = ShapeWords(
    fields={
        "u": ("displacement along x", "m"),
        "v": ("displacement along y", "m"),
        "w": ("displacement along z", "m"),
        "phi_x": ("rotation about x", "rad"),
        "phi_y": ("rotation about y", "rad"),
        "phi_z": ("rotation about z", "rad"),
        "normal": ("normal force", "N"),
        "shear_y": ("shear force along y", "N"),
        "shear_z": ("shear force along z", "N"),
        "torque": ("torque", "N m"),
        "moment_y": ("bending moment about y", "N m"),
        "moment_z": ("bending moment about z", "N m"),
    },
    energies={
        "stretching": "strain energy of stretching",
        "torsion": "strain energy of torsion",
        "bending_y": "strain energy of bending about y",
        "bending_z": "strain energy of bending about z",
        "shear_y": "strain energy of shear along y",
        "shear_z": "strain energy of shear along z",
        "joint": "strain energy of the joint's springs",
        "translation": "kinetic energy of translation",
        "rotation": "kinetic energy of the rotation of sections",
        "body_translation": "kinetic energy of translation of the bodies at the tip",
        "body_rotation": "kinetic energy of rotation of the bodies at the tip",
        "hub": "kinetic energy of the hub and the rotor at the joint",
        "preload": "strain energy of static forces",
    },
    shares={
        "bend y %": ("bending_y",),
        "bend z %": ("bending_z",),
        "twist %": ("torsion",),
        "stretch %": ("stretching",),
        "shear %": ("shear_y", "shear_z"),
        "joints %": ("joint",),
        "preload %": ("preload",),
    },
    masses={name: f"{name} %" for name in ("x", "y", "z", "about x", "about y", "about z")},
    decimals=1,
    notes=(
        "bend y to joints: shares of the strain energy, bending about y and z of the sections; bodies: share of",
        "the kinetic energy; x to about z: effective mass for a base that moves along, or turns about, x, y, z.",
    ),
    place=" in space",
    axes="xyz",
    ground="ground",
    motions={"displacement": "m", "rotation": "rad"},
)
