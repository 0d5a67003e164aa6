"""Values that planar and spatial links have under different addresses."""

from typing import Literal

#: values of links that planar arms and those in space have under two names
_TWINS = {
    "tip_mass": "body.mass",
    "tip_inertia": "body.inertia.zz",
    "hub_mass": "hub.mass",
    "hub_inertia": "hub.inertia.zz",
    "stator_mass": "stator.mass",
    "stator_inertia": "stator.inertia.zz",
    "base_offset_x": "base_offset.x",
    "base_offset_y": "base_offset.y",
    "end_offset_x": "end_offset.x",
    "end_offset_y": "end_offset.y",
}


def twin_of(here: Literal["plane", "space"], link: int, field: str) -> str:
    """Return a sentence with the address of what is a value of the other kind of arm alone; empty if there is none.

    ``here`` is what the arm moves in, which lacks the field.
    """
    plane = here == "plane"
    name = {(there if plane else own): (own if plane else there) for own, there in _TWINS.items()}
    if field not in name:
        return ""
    own, other = ("a plane", "space") if plane else ("space", "a plane")
    return (
        f"it is one of arms in {other}; of an arm in {own} the same is 'link{link}.{name[field]}', where the link has "
        "one."
    )
