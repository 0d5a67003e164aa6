"""Damping between undamped modes: projected from the arm's own damping, or given per mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.response.driven.damping import Damping
from jaxmodal.response.modal.results import ModalDamping
from jaxmodal.runtime.array_types import Floats
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import flexibility


def damping_of_modes(
    beams: BeamArrays,
    theory: Theory,
    damping: Damping,
    nodes: Floats,
    weights: Floats,
    gives: Floats,
) -> ModalDamping:
    """Return the damping of an arm projected onto modes.

    Parameters
    ----------
    nodes : array, shape (n, 3, q, K)
        Section forces N, V, M_b of the modes at the nodes of a quadrature.
    weights : array, shape (q,)
        Weights of the quadrature on [0, 1].
    gives : array, shape (n, 3, K)
        Deflections of the joint springs along u, v and psi.

    Notes
    -----
    A link with a complex modulus dissipates its strain energy times loss factor and Kelvin-Voigt time. A joint damper
    acts on the rate of the deflection of its spring.
    """
    count = gives.shape[-1]
    viscous, structural = np.zeros((count, count)), np.zeros((count, count))
    with np.errstate(divide="ignore"):
        soft = [
            theory.axial / (beams.youngs_modulus * beams.area),
            theory.shear / (beams.shear_modulus_effective * beams.area),
            1.0 / (beams.youngs_modulus * beams.second_moment),
        ]
    soft = np.stack(soft, axis=1) * (flexibility(beams) * beams.length)[:, None]
    for i in range(gives.shape[0]):
        rates = [x for x in (damping.loss_factor, damping.kelvin_voigt_time) if x is not None]
        if any(rate[i] for rate in rates):
            strain = np.einsum("fqk,fql,q,f->kl", nodes[i], nodes[i], weights, soft[i])
            if damping.loss_factor is not None:
                structural += damping.loss_factor[i] * strain
            if damping.kelvin_voigt_time is not None:
                viscous += damping.kelvin_voigt_time[i] * strain
        dampers = (damping.joint_axial_damping, damping.joint_shear_damping, damping.joint_damping)
        for axis, damper in enumerate(dampers):
            if damper is not None and damper[i]:
                viscous += damper[i] * np.outer(gives[i, axis], gives[i, axis])
    return ModalDamping(viscous, structural)


def given_damping(omega: Floats, damping_ratio: Any, rayleigh: Any) -> Floats:
    """Return the damping ``2 zeta omega`` of each mode, 1/s, shape (K,)."""
    if rayleigh is not None:
        mass, stiffness = real_array(rayleigh, "rayleigh")
        return mass + stiffness * omega**2
    ratios = real_array(damping_ratio, "damping_ratio")
    found: Floats = 2.0 * np.broadcast_to(ratios, omega.shape) * omega
    return found


def require_given_damping(damping_ratio: Any, rayleigh: Any, count: int) -> None:
    """Refuse damping ratios or Rayleigh coefficients that are invalid for this number of modes."""
    if damping_ratio is not None and rayleigh is not None:
        raise ValueError("damping_ratio and rayleigh are both given; give one of them")
    if damping_ratio is not None:
        ratios = real_array(damping_ratio, "damping_ratio")
        if ratios.shape not in ((), (count,)) or not np.all(np.isfinite(ratios) & (ratios >= 0.0)):
            raise ValueError(
                f"damping_ratio = {shown(damping_ratio)}: expected one number of at least 0, or one for each of the "
                f"{count} modes; 0.01 is 1 % of critical damping"
            )
    if rayleigh is not None:
        pair = real_array(rayleigh, "rayleigh")
        if pair.shape != (2,) or not np.all(np.isfinite(pair) & (pair >= 0.0)):
            raise ValueError(
                f"rayleigh = {shown(rayleigh)}: expected two numbers of at least 0, the shares of mass (1/s) and of "
                "stiffness (s)"
            )
