"""Values that planar and spatial links have under different addresses."""

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


def twin_of(planar: bool, link: str, field: str) -> str:
    """Return a sentence with the address of a value of the other kind of arm; empty if there is none."""
    pairs = [(there, here) if planar else (here, there) for here, there in _TWINS.items()]
    name = dict(pairs).get(field)
    if name is None:
        return ""
    here, there = ("a plane", "space") if planar else ("space", "a plane")
    return f"it is one of arms in {there}; of an arm in {here} the same is 'link{link}.{name}', where the link has one."
