"""Link values of an arm as arrays, the input of the equations."""

import dataclasses

import jax
import numpy as np
from jaxtyping import Float, Inexact

from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.link_parts import (
    BASE_OFFSET,
    END_OFFSET,
    HUB,
    ROTOR,
    SLIDES,
    TIP,
    ArmParts,
    part_of,
)

#: supports of the tip of a link: along x and y of the ground, and about the tip
SUPPORTS = ("support_x_stiffness", "support_y_stiffness", "support_torsional_stiffness")
#: geometric stiffnesses of static forces against a rotation of the rigid parts
TURNING = ("base_turning_stiffness", "end_turning_stiffness")
#: the stiffness matrix of the elastic base over x, y of the ground and rotation, its upper triangle row by row
BASE = ("base_xx", "base_xy", "base_xr", "base_yy", "base_yr", "base_rr")
#: the springs of a joint in the order of u, v and psi
SPRINGS = (*SLIDES, "joint_stiffness")
#: fields of the inner end of a link, its joint, and their values without effect
INNER = {
    "joint_angle": 0.0,
    **dict.fromkeys(SPRINGS, np.inf),
    **dict.fromkeys((*HUB, *ROTOR, *BASE_OFFSET, TURNING[0]), 0.0),
    ROTOR[1]: 1.0,
    **{name: np.inf if name[-2] == name[-1] else 0.0 for name in BASE},
}
#: fields of the outer end, its tip, and their values without effect
OUTER = dict.fromkeys((*TIP, *END_OFFSET, TURNING[1], *SUPPORTS), 0.0)
#: values without effect of all fields that have one; the other fields define the beam
WITHOUT_EFFECT = {
    **INNER,
    **OUTER,
    **dict.fromkeys(("nonstructural_mass", "ground_angle", "axial_force"), 0.0),
    "flexible": 1.0,
}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BeamArrays(ArmParts):
    """Link values of an arm: one array per quantity, link 1 first, SI units.

    Every array has shape (n,). A slice of one link has the same type, and so has a batch, whose further axes broadcast
    with the frequencies.

    ``shear_modulus_effective`` is kappa G, inf where it is unknown. ``tip_mass`` and ``tip_inertia`` (about the tip)
    include the payload in their last entry, and the part of the next joint's hub that moves with the link.
    ``joint_stiffness`` is inf at a rigid joint, 0 at a free hinge. ``has_shear`` is True if kappa G is known for every
    link. Moduli and springs are complex in the frequency response of a damped arm.

    The fields after ``has_shear`` are None if no link of the arm has them. They are those of `Link`, except:
    ``tip_moment_x, tip_moment_y`` are the first moments of the body at the tip, kg m; ``flexible`` is 1, or 0 for a
    rigid link; ``ground_angle`` is the angle of the link to the ground's x axis; ``base_turning_stiffness,
    end_turning_stiffness`` are the geometric stiffnesses of static forces against a rotation of the rigid parts at the
    two ends of the link, N m/rad. ``base_xx`` to ``base_rr`` are an elastic base in their first entries and a rigid one
    in the others: inf on the diagonal, 0 off it. If they are given, supports are given as well.
    """

    length: Float[Array, "..."]
    youngs_modulus: Inexact[Array, "..."]
    area: Float[Array, "..."]
    second_moment: Float[Array, "..."]
    density: Float[Array, "..."]
    shear_modulus_effective: Inexact[Array, "..."]
    tip_mass: Float[Array, "..."]
    tip_inertia: Float[Array, "..."]
    joint_angle: Float[Array, "..."]
    joint_stiffness: Inexact[Array, "..."]
    has_shear: bool = dataclasses.field(metadata={"static": True})
    joint_axial_stiffness: Inexact[Array, "..."] | None = None
    joint_shear_stiffness: Inexact[Array, "..."] | None = None
    hub_mass: Float[Array, "..."] | None = None
    hub_inertia: Float[Array, "..."] | None = None
    rotor_inertia: Float[Array, "..."] | None = None
    gear_ratio: Float[Array, "..."] | None = None
    base_offset_x: Float[Array, "..."] | None = None
    base_offset_y: Float[Array, "..."] | None = None
    end_offset_x: Float[Array, "..."] | None = None
    end_offset_y: Float[Array, "..."] | None = None
    tip_moment_x: Float[Array, "..."] | None = None
    tip_moment_y: Float[Array, "..."] | None = None
    nonstructural_mass: Float[Array, "..."] | None = None
    flexible: Float[Array, "..."] | None = None
    support_x_stiffness: Float[Array, "..."] | None = None
    support_y_stiffness: Float[Array, "..."] | None = None
    support_torsional_stiffness: Float[Array, "..."] | None = None
    ground_angle: Float[Array, "..."] | None = None
    axial_force: Float[Array, "..."] | None = None
    base_turning_stiffness: Float[Array, "..."] | None = None
    end_turning_stiffness: Float[Array, "..."] | None = None
    base_xx: Inexact[Array, "..."] | None = None
    base_xy: Inexact[Array, "..."] | None = None
    base_xr: Inexact[Array, "..."] | None = None
    base_yy: Inexact[Array, "..."] | None = None
    base_yr: Inexact[Array, "..."] | None = None
    base_rr: Inexact[Array, "..."] | None = None

    @property
    def springs(self) -> tuple[Array | None, Array | None, Array]:
        """Springs of the joints along the links, across them and about the joints."""
        return *self.slides, self.joint_stiffness

    @property
    def supports(self) -> tuple[Array, Array, Array] | None:
        """Springs from the tips to the ground along its x and y axes and about the tips; None if no tip has any."""
        values = part_of(self, SUPPORTS)
        return None if values is None else (values[0], values[1], values[2])


#: fields that every arm has
PLAIN = tuple(f.name for f in dataclasses.fields(BeamArrays) if f.default is dataclasses.MISSING)[
    :-1
]
