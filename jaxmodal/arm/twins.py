"""Values that planar and spatial links have under different addresses."""

from typing import Literal

from jaxmodal.statics.link_parts import BASE_OFFSET, BODY, END_OFFSET, HUB, STATOR

#: values of links that planar arms and those in space have under two names
_TWINS = {
    name: f"{part}.{value}"
    for part, names, values in (
        ("body", BODY, ("mass", "inertia.zz")),
        ("hub", HUB, ("mass", "inertia.zz")),
        ("stator", STATOR, ("mass", "inertia.zz")),
        ("base_offset", BASE_OFFSET, ("x", "y")),
        ("end_offset", END_OFFSET, ("x", "y")),
    )
    for name, value in zip(names, values, strict=True)
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
