"""Frequency-independent terms of links, computed once for many frequencies."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax

from jaxmodal.arithmetic.operations import Arithmetic, Number, keep, leading, number, sin_cos
from jaxmodal.dynamic_stiffness.beams import MemberConstants, Theory, member_constants
from jaxmodal.dynamic_stiffness.joints import attachments
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import spring_law
from jaxmodal.statics.link_parts import REFLECTED, Rotor

#: what follows the features of a link with supports: its angle to the ground
GROUND = ("ground_sine", "ground_cosine")


class Fixed(NamedTuple):
    """Frequency-independent terms of a link, except its wave numbers."""

    length: Number
    tip_mass: Number
    tip_inertia: Number
    joint_unit: Number
    joint_compliance: Number
    sin_angle: Number
    cos_angle: Number


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LinkConstants:
    """One or more links in the form that `link_terms.link_terms` uses at many frequencies; in float64 in programs."""

    fixed: Fixed
    member: MemberConstants
    features: dict[str, Number]

    @property
    def length(self) -> Array:
        return leading(self.fixed.length)


def link_constants(
    links: BeamArrays, theory: Theory, arithmetic: Arithmetic = Arithmetic.float64
) -> LinkConstants | BeamArrays:
    """Return `LinkConstants` of links; links under an axial force are returned unchanged."""
    if links.axial_force is not None:
        return links
    member = member_constants(links, theory, arithmetic)
    return LinkConstants(fixed_of(links, arithmetic), member, features_of(links, arithmetic, 0.0))


def fixed_of(link: BeamArrays, arithmetic: Arithmetic) -> Fixed:
    """Return `Fixed` of one link, in any arithmetic."""
    values = link.length, *link.tip[:2], *spring_law(link.joint_stiffness)
    length, mass, inertia, unit, compliance = (number(x, arithmetic) for x in values)
    return Fixed(length, mass, inertia, unit, compliance, *_turn(link.joint_angle, arithmetic))


def features_of(
    link: BeamArrays, arithmetic: Arithmetic, nothing: Array | float
) -> dict[str, Number]:
    """Return the features of `link_terms.LinkTerms` except the lever, in the shape of ``nothing``."""
    features = {
        name: number(x + nothing, arithmetic) for name, x in attachments(link).features.items()
    }
    if link.rotor is not None:
        # of a geared rotor nearly all cancels at a rigid joint: not in float64
        rotor = Rotor(*(number(x + nothing, arithmetic) for x in link.rotor))
        features |= dict(zip(REFLECTED, rotor.reflected(), strict=True))
    if link.ground_angle is not None:
        features |= dict(zip(GROUND, _turn(link.ground_angle + nothing, arithmetic), strict=True))
    return features


def _turn(angle: Array, arithmetic: Arithmetic) -> tuple[Number, Number]:
    """Return sine and cosine of an angle."""
    ((sine, cosine, _),) = sin_cos(number(xp.abs(angle), arithmetic))
    return keep(sine * number(xp.where(angle < 0.0, -1.0, 1.0), arithmetic)), keep(cosine)
