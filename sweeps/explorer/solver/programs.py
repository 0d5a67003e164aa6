"""Programs of an arm for the page: from fields to beams, to constants of links, to the count of modes.

The physics is in the library alone: its formulas are recorded, and its other functions are traced.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, select
from jaxmodal.arm.addresses import list_addresses
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import fields_of, invalid_values
from jaxmodal.arm.loaded import segments, under_forces
from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.dynamic_stiffness import beams as members
from jaxmodal.dynamic_stiffness.beams import (
    MemberConstants,
    Theory,
    TheoryName,
    WaveNumbers,
    prepared_values,
    theory_flags,
)
from jaxmodal.dynamic_stiffness.condensation import Tally, noise_of, share_of
from jaxmodal.dynamic_stiffness.cut_links import SHARES
from jaxmodal.dynamic_stiffness.joints import attachments
from jaxmodal.dynamic_stiffness.link_constants import GROUND
from jaxmodal.dynamic_stiffness.link_terms import LinkTerms, formula_of, link_result
from jaxmodal.dynamic_stiffness.member import FunctionTurns, MemberFunctions
from jaxmodal.dynamic_stiffness.preload import loaded_waves
from jaxmodal.dynamic_stiffness.rigid_motions import DIAGONAL, number_of_zero_modes
from jaxmodal.frequencies.resolution import starting_scale
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.statics.beam_arrays import INNER, OUTER, PLAIN, WITHOUT_EFFECT, BeamArrays
from jaxmodal.statics.laws import flexibility, spring_law
from jaxmodal.statics.link_parts import REFLECTED, Rotor
from sweeps.explorer.solver.file_damping import damping_of_file
from sweeps.explorer.solver.passages import (
    JOINT_INPUTS,
    LOADED_PIECE_INPUTS,
    PIECE_INPUTS,
    along_loaded_piece,
    along_piece,
    beyond_joint,
)
from sweeps.explorer.solver.tapes import Both, number, tape_of_formula, tape_of_function

#: inputs of a link before the wave numbers: length, axial motion or none, omega, tip mass and inertia, law and angle of
#: the joint
_LINK_INPUTS = 9
#: name of the last feature of links under axial forces, see `jaxmodal.dynamic_stiffness.preload`
LEVER = "lever"


def arm_programs(arm: Arm, theory: TheoryName) -> dict[str, Any]:
    """Return the data of a planar arm for the page: values with their addresses, and tapes.

    Raises
    ------
    ArmError
        The arm has forces at rest, supports or an elastic base, and a free joint or base; see also
        `natural_frequencies`.
    """
    beams, flags = prepared_values(arm, theory)
    loaded = under_forces(arm)
    held = beams.supports is not None
    if loaded and held and _gives_freely(beams):
        raise ArmError(
            "joint_stiffness = 0: the solver in the page has no free joints of arms with supported tips or an elastic "
            "base under forces at rest, of which it cannot tell what is held; give joints and base a stiffness in "
            "every direction, or leave the supports or the forces out."
        )
    if bool(invalid_values(arm)):
        raise ArmError("the arm has an invalid value; create it again from its values.")
    # the unknowns of the equilibrium depend on which tips are supported
    names = [x for x in list_addresses(arm) if not (loaded and ".support_" in x)]
    fields = _fields(beams)
    ordered = _features(beams)
    shape_features = (
        *(name for name in ordered if name not in ("flexible", LEVER)),
        "flexible",
        *([LEVER] if loaded else []),
    )
    return {
        "name": arm.name,
        "theory": theory,
        "axial": float(flags.axial),
        "links": len(beams.length),
        "ends": np.cumsum(segments(arm.loads, [link.rigid for link in arm.links])).tolist(),
        "loaded": loaded,
        "damping": damping_of_file(arm),
        "held": held,
        "addresses": names,
        "values": [number(float(get_parameter(arm, name))) for name in names],
        "fields": fields,
        "features": ordered,
        "shape_features": shape_features,
        "inner": {name: number(WITHOUT_EFFECT[name]) for name in fields if name in INNER},
        "outer": [name for name in fields if name in OUTER],
        "shares": SHARES,
        "beams": _beams_tape(arm, names, fields),
        "constants": _constants_tape(beams, fields, flags),
        "inputs": _LOADED if loaded else _UNLOADED,
        "member": Both(_as_given, _LOADED).written()
        if loaded
        else Both(members.member_formula, _UNLOADED).written(),
        "rotor": Both(lambda *rotor: Rotor(*rotor).reflected(), 2).written(),
        "waves": Both(
            _waves_under_force if loaded else members.waves_of_constants,
            1 + (_LOADED if loaded else len(MemberConstants._fields)),
        ).written(),
        "link": Both(formula_of(ordered), _inputs_of_link(ordered)).written(),
        "share": _share_tape(ordered, theory),
        "factors": _factors(ordered),
        "noise": {kind.value: _noise_tape(kind) for kind in list(Arithmetic)[:2]},
        "shape_link": tape_of_formula(
            formula_of(shape_features), _inputs_of_link(shape_features), False
        ),
        "joint": tape_of_formula(beyond_joint, JOINT_INPUTS, False),
        "piece": tape_of_formula(along_loaded_piece, LOADED_PIECE_INPUTS, False)
        if loaded
        else tape_of_formula(along_piece, PIECE_INPUTS, False),
    }


#: inputs of a member, without and with an axial force
_UNLOADED, _LOADED = 8, 9


def _as_given(*numbers: Number) -> list[Number]:
    """Return the inputs of a member under an axial force, which has no other constants."""
    return list(numbers)


def _waves_under_force(omega: Number, *inputs: Number) -> list[Number]:
    """Return `loaded_waves` with the frequency as first argument: wave numbers, lever, share of shear."""
    length, modulus, area, second_moment, density, shear_modulus, *effects = inputs
    beam = length, modulus, area, second_moment, density, shear_modulus
    shear, rotary, force = effects
    return loaded_waves(*beam, omega, shear, rotary, force)


def _fields(beams: BeamArrays) -> list[str]:
    """Return the names of the beam fields that this arm uses."""
    names = [f.name for f in dataclasses.fields(BeamArrays) if f.name != "has_shear"]
    return [name for name in names if getattr(beams, name) is not None]


def _inputs_of_link(features: tuple[str, ...]) -> int:
    return (
        _LINK_INPUTS + len(WaveNumbers._fields) + len(MemberFunctions._fields) + 6 + len(features)
    )


def _features(beams: BeamArrays) -> tuple[str, ...]:
    """Return the features of the links in the order of `link_constants.features_of`."""
    ground = () if beams.ground_angle is None else GROUND
    return (*attachments(beams).features, *ground, *(() if beams.axial_force is None else (LEVER,)))


def _beams_tape(arm: Arm, names: list[str], fields: list[str]) -> dict[str, Any]:
    """Return the tape from the values of the arm to its beams, a frequency scale, and 1 if a value is invalid.

    For an arm under forces at rest the number of modes of frequency zero follows.
    """

    def computed(*values: Any) -> list[Any]:
        changed = set_parameters(arm, dict(zip(names, values, strict=True)))

        def column(name: str, absent: float) -> Any:
            own = [getattr(link, name) for link in changed.links]
            if not any(
                is_traced(x) for x in own
            ):  # known constants, so that absent features are left out
                return np.array([absent if x is None else float(x) for x in own])
            return jnp.stack([jnp.float64(absent if x is None else x) for x in own])

        beams = BeamArrays(**fields_of(changed, column)[0], has_shear=True)
        found = [getattr(beams, name) for name in fields]
        zeros = [] if beams.axial_force is None else [_zero_modes(beams)]
        return [*found, starting_scale(beams), invalid_values(changed), *zeros]

    return tape_of_function(computed, len(names))


def _gives_freely(beams: BeamArrays) -> bool:
    """Return True if a joint or the base has zero stiffness in some direction."""
    own = [x for x in beams.springs if x is not None]
    own += [getattr(beams, name)[0] for name in DIAGONAL if getattr(beams, name) is not None]
    return any(bool(np.any(x == 0.0)) for x in own)


def _zero_modes(beams: BeamArrays) -> Any:
    """Return the number of modes of frequency zero; 0 with supports, where arms with such modes have been refused."""
    return number_of_zero_modes(beams) if beams.supports is None else np.float64(0.0)


def _constants_tape(beams: BeamArrays, fields: list[str], flags: Theory) -> dict[str, Any]:
    """Return the tape from the fields of one link to its constants, which do not depend on the frequency.

    Outputs: inputs of the member; length, mass and inertia at the tip, law and angle of the joint; features that do
    not follow from others; inertia and gear ratio of the rotor; angle to the ground.
    """
    ordered = [name for name in _features(beams) if name not in (*REFLECTED, *GROUND, LEVER)]

    def computed(*values: Any) -> list[Any]:
        given = dict(zip(fields, values, strict=True))
        link = BeamArrays(**{name: given.get(name) for name in (*PLAIN, *fields)}, has_shear=True)
        own = attachments(link).features
        inputs = list(members.member_inputs(link, flags))
        if link.axial_force is not None:
            inputs[6] = inputs[6] * flexibility(link)  # shear
            inputs.append(link.axial_force)
        return [
            *inputs,
            *(link.length, *link.tip[:2]),
            *spring_law(link.joint_stiffness),
            link.joint_angle,
            *(own[name] for name in ordered),
            *(link.rotor or ()),
            *([] if link.ground_angle is None else [link.ground_angle]),
        ]

    return tape_of_function(computed, len(fields))


def _factors(features: tuple[str, ...]) -> list[int]:
    """Return the indices of the factors of the determinant among the double-double results of a link."""
    results = len(
        tape_of_formula(formula_of(features), _inputs_of_link(features), False)["outputs"]
    )
    of = link_result(range(results), features)
    return [of.det, of.delta, *of.pivots, *of.supports, *([of.base.det_full] if of.base else [])]


@functools.cache
def _share_tape(features: tuple[str, ...], theory: TheoryName) -> dict[str, Any]:
    """Return the tape from the float64 results of a link to its share of determinant and count.

    Further inputs: z1 and alpha, turns of alpha, beta and mu, the frequency, and 1 for a flexible link.
    """
    results = len(tape_of_formula(formula_of(features), _inputs_of_link(features), True)["outputs"])

    def computed(*values: Any) -> list[Any]:
        result = link_result(values[:results], features)
        z1, alpha, *turns, omega, flexible = values[results:]
        known = {"flexible": flexible} if "flexible" in features else {}
        terms = LinkTerms([], known, FunctionTurns(*turns), select(z1, alpha, 0.0 * alpha))
        return list(share_of(result, terms, theory_flags(theory), omega))

    return tape_of_function(computed, results + 7)


@functools.cache
def _noise_tape(arithmetic: Arithmetic) -> dict[str, Any]:
    def computed(noise: Any, last: Any, shaken: Any) -> list[Any]:
        nothing = 0.0 * noise
        return [noise_of(Tally(nothing, nothing, nothing, noise, last, shaken), arithmetic)]

    return tape_of_function(computed, 3)
