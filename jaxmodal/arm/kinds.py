"""What an operation uses for planar arms and for arms in space: the one place where it asks for the kind of an arm."""

from collections.abc import Collection
from typing import Generic, NamedTuple, TypeVar

from jaxmodal.arm.arm import require_arm

T = TypeVar("T")


class ByKind(NamedTuple, Generic[T]):
    """Two things with the same methods or arguments, one for planar arms and one for arms in space.

    Examples
    --------
    >>> from jaxmodal import examples
    >>> ByKind(plane="turns about z", space="turns about any axis").of(examples.two_link_flexible())
    'turns about z'
    """

    plane: T
    space: T

    def of(self, arm: object) -> T:
        """Return that for the kind of an arm; raise an ArmError for what is no arm."""
        return self.along(require_arm(arm).directions)

    def along(self, directions: Collection[str]) -> T:
        """Return that for what moves along ``directions``, as a model of an arm in motion tells by its ``axes``."""
        return self.space if "z" in directions else self.plane
