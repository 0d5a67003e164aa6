"""A bar in space with two unlike planes, for critical loads known in closed form."""

import jaxmodal as jm

E, G = 7e10, 7e10 / 2.6
EB = "euler_bernoulli"
#: gravity, m/s^2
DOWN = (0.0, 0.0, -9.81)


def straight(weak=1e-9, strong=5e-8, torsion=3e-9, area=1e-4, **changes):
    """A bar of length 1 m that hardly weighs anything; its weak plane is x-z."""
    section = jm.spatial_section(area, weak, strong, torsion)
    values = {"youngs_modulus": E, "shear_modulus": G, "density": 1e-9, "section": section}
    return jm.SpatialLink(**{"length": 1.0} | values | changes)
