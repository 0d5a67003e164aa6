"""The choice between responses of planar arms and of arms in space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxmodal.arm.kinds import ByKind
from jaxmodal.response.driven.spatial_readings import carried_in_space
from jaxmodal.response.exact.in_plane import answers_in_plane, carried_in_plane
from jaxmodal.response.exact.in_space import answers_in_space
from jaxmodal.response.exact.slopes import PlanarSlopes
from jaxmodal.response.exact.slopes_in_space import SpatialSlopes
from jaxmodal.response.receptance.characteristic import Characteristic, PlanarCharacteristic
from jaxmodal.response.receptance.characteristic_in_space import SpatialCharacteristic
from jaxmodal.response.static.in_plane import compliance_in_plane
from jaxmodal.response.static.in_space import compliance_in_space
from jaxmodal.runtime.array_types import Floats


class Responses(NamedTuple):
    """What gives the responses of arms of one kind.

    Attributes
    ----------
    answers
        Values between ports, see `in_plane.answers_in_plane`.
    slopes
        The arm with ports and derivatives by addresses and, last, by the frequency.
    characteristic
        The characteristic determinant of the damped arm.
    carried
        Motions of ports of the rigid arm that moves with its base.
    compliance
        Displacements at rest for unit forces.
    """

    answers: Callable[..., tuple[Any, Any, Any, Any]]
    slopes: Callable[..., PlanarSlopes | SpatialSlopes]
    characteristic: Callable[..., Characteristic]
    carried: Callable[..., Floats]
    compliance: Callable[..., Floats]


RESPONSES = ByKind(
    plane=Responses(
        *(answers_in_plane, PlanarSlopes, PlanarCharacteristic),
        *(carried_in_plane, compliance_in_plane),
    ),
    space=Responses(
        *(answers_in_space, SpatialSlopes, SpatialCharacteristic),
        *(carried_in_space, compliance_in_space),
    ),
)
