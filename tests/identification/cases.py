"""Arms whose parameters are fitted, and what was measured of them."""

import functools

import numpy as np

import jaxmodal as jm
from jaxmodal.identification import MeasuredModes

STIFFNESSES = ["link1.joint_stiffness", "link2.joint_stiffness"]
THEORY = "euler_bernoulli"


@functools.cache
def two_links():
    """Two slender beams on elastic joints."""
    beam = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700.0}
    section = jm.rectangle(depth=0.02, width=0.04)
    first = jm.Link(**beam, section=section, joint_stiffness=2.5e3, hub_inertia=0.01)
    second = jm.Link(**beam, section=section, joint_stiffness=1.3e3, hub_mass=1.0, hub_inertia=0.01)
    return jm.Arm((first, second), jm.Payload(0.6))


@functools.cache
def wrist():
    """Three joints of a wrist and one below; where the middle one is straight, two turn about one axis."""

    def body(mass, *inertia):
        return jm.RigidBody(mass, inertia=inertia)

    link = functools.partial(jm.SpatialLink, rigid=True)
    light = body(0.5, 4e-5, 4e-4, 4e-4)
    links = (
        link(0.6, joint_axis=(0, 1, 0), joint_stiffness=4e4, body=body(6.0, 0.05, 0.1, 0.1)),
        link(0.4, joint_axis=(1, 0, 0), joint_stiffness=2.4e3, name="roll", body=light),
        link(0.2, joint_axis=(0, 1, 0), joint_stiffness=5e3, name="pitch", body=light),
        link(0.1, joint_axis=(1, 0, 0), joint_stiffness=2.6e3, name="flange"),
    )
    load = jm.RigidBody(3.0, centre=(0.1, 0.05, 0.0), inertia=(0.03, 0.05, 0.06))
    return jm.SpatialArm(links, payload=load)


@functools.cache
def exact_hertz(make, number, theory, **settings):
    posed = jm.set_parameters(make(), settings)
    return np.asarray(jm.natural_frequencies(posed, number, theory=theory).frequencies_hz)


def seen(make, number, share, *, theory=THEORY, rng=None, known=True, **settings):
    """The lowest modes of an arm as measured: with noise of a share of each, where ``rng`` is given."""
    hertz = exact_hertz(make, number, theory, **settings)
    noise = 0.0 if rng is None else share * rng.standard_normal(number)
    spread = share * hertz if known else None
    return MeasuredModes(hertz * (1.0 + noise), spread, settings=settings)
