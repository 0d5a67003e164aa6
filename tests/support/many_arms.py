"""Arms of one structure as cells of the first one: twenty cost what two cost one by one."""

import math
import operator

import jax
import numpy as np

import jaxmodal as jm
from jaxmodal.runtime.namespace import to_host

SLIDES = ("joint_axial_stiffness", "joint_shear_stiffness")


def solved_together(arms, num_modes, theory="timoshenko"):
    """The results, one for each arm; all are solved side by side in NumPy, every slide with a value."""
    arms = [
        arm.replace(
            links=tuple(
                link.replace(**{n: math.inf for n in SLIDES if getattr(link, n) is None})
                for link in arm.links
            )
        )
        for arm in arms
    ]
    cells = {
        address: np.array([float(jm.get_parameter(arm, address)) for arm in arms])
        for address in jm.list_addresses(arms[0])
    }
    found = to_host(jm.natural_frequencies_batch(arms[0], cells, num_modes, theory=theory))
    return [jax.tree_util.tree_map(operator.itemgetter(cell), found) for cell in range(len(arms))]
