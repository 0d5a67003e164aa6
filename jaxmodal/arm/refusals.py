"""Refusal of arms that a function cannot take, with the value and the remedy: traced, loaded, without shear data."""

from __future__ import annotations

import jax
import numpy as np

from jaxmodal.arm.arm import Arm, require_planar
from jaxmodal.arm.arrays import NormalForm, normal_form
from jaxmodal.arm.loaded import bears
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced, on_host, to_host
from jaxmodal.statics.beam_arrays import SUPPORTS
from jaxmodal.statics.equilibrium import require_held
from jaxmodal.statics.link_parts import SLIDES


def require_concrete(
    arm: SerialArm, what: str, remedy: str = "inside jit, vmap and grad use frequency_response"
) -> None:
    """Refuse an arm with a traced value."""
    if is_traced(arm):
        raise ArmError(f"arm: is traced, and {what} takes an arm of concrete values; {remedy}.")


def refuse_loads(arm: SerialArm, what: str) -> None:
    """Refuse an arm with loads; ``what`` is the subject of the sentence."""
    if arm.loads is not None:
        raise ArmError(
            f"loads: the arm has some, and {what} takes no arm with loads; give arm.replace(loads=None), or "
            f"take [loads] out of its file. {arm.know_loads} take them."
        )


def refuse_base(arm: Arm) -> None:
    """Refuse an arm on an elastic base, for the dynamics by assumed modes."""
    if arm.base_stiffness is not None:
        raise ArmError(
            "base_stiffness: the arm has one, and jaxmodal.dynamics takes no planar arm on an elastic base; give "
            "arm.replace(base_stiffness=None), or take it out of its file."
        )


def require_known(arm: Arm, theory: str) -> None:
    """Refuse an arm that a theory cannot take: without shear data, a rigid link against a rigid support, loads.

    Raises
    ------
    ArmError
        Naming the link and the value. Traced values are not checked.
    """
    if arm.loads is not None and _of_numbers(arm):
        known_form(arm, theory)
    else:
        _require_parts(arm, theory)


def known_form(arm: Arm, theory: str) -> NormalForm:
    """Return the `normal_form` of an arm after the checks of `require_known`."""
    _require_parts(arm, theory)
    form = normal_form(arm)
    if form.rest is not None:
        require_held(*form.rest)
        if not bears(form.beams):
            raise ArmError(
                "loads: they press a link beyond -kappa G A, at which it shears off whatever its length; check the "
                "units (m/s^2, N)."
            )
    return form


def _of_numbers(arm: Arm) -> bool:
    """Return True if all values of an arm are concrete scalars."""
    leaves = jax.tree_util.tree_leaves(to_host(arm))
    return on_host(*leaves) and not any(np.ndim(x) for x in leaves)


def _require_parts(arm: Arm, theory: str) -> None:
    """Apply the checks of `require_known` except those of the loads."""
    require_planar(arm)
    if theory == "timoshenko":
        require_shear(arm)
    if any(link.axial_force is not None for link in arm.links):
        refuse_loaded_slides(arm, "with an axial_force in the arm")
    if arm.loads is not None:
        refuse_loaded_slides(arm, "under dead loads")
    if theory != "bending_only":
        return
    for number, link in enumerate(arm.links, start=1):
        for name in SUPPORTS[:2]:
            value = getattr(link, name)
            if value is not None and on_host(value) and np.any(np.isinf(value)):
                raise ArmError(
                    f"link{number}.{name} = inf: links of the theory 'bending_only' are rigid along their axes and"
                    " cannot have a rigid support; give a large finite stiffness, or choose the theory"
                    " 'euler_bernoulli'."
                )


def refuse_loaded_slides(arm: Arm, why: str) -> None:
    """Refuse springs along or across a joint that turns under axial forces: the joined ends move apart.

    ``why`` is the clause of the message that names the forces.
    """
    for number, link in enumerate(arm.links[1:], start=2):
        for name in SLIDES:
            value = getattr(link, name)
            if value is not None and not (on_host(value) and np.all(np.isinf(value))):
                raise ArmError(
                    f"link{number}.{name} = {shown(value)}: {why}, springs along and across a joint are taken at"
                    " the base alone, whose directions stay fixed; leave it out."
                )


def require_shear(arm: Arm) -> None:
    """Refuse an arm without the shear data that a theory with shear needs.

    Raises
    ------
    ArmError
        Naming the first link without a shear coefficient or without a shear modulus, and the key
        to add.
    """
    for number, link in enumerate(arm.links, start=1):
        if link.has_shear:
            continue
        section = link.section
        if section.shear_coefficient is None and section.shear_rule is None:
            raise ArmError(
                f"link{number}.section.shear_coefficient is missing: a theory with shear needs "
                "it; give a value such as 0.85, or a rule, 'cowper' or '5/6'; or choose the "
                "theory 'rayleigh' or 'euler_bernoulli'."
            )
        raise ArmError(
            f"link{number}.poisson_ratio is missing: a theory with shear needs it, or "
            "shear_modulus; give one of them, or choose the theory 'rayleigh' or "
            "'euler_bernoulli'."
        )
