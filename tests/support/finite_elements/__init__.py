"""An independent p-version finite-element model of a planar arm, in NumPy and SciPy alone.

It shares nothing with the engine: no wave numbers, no transfer or stiffness matrices of a
member, no frequency-dependent function at all. Each link is cut into elements and the *strains*
of each element are expanded in Legendre polynomials:

    curvature psi' = kappa(x),  shear strain v' - psi = gamma(x),  axial strain u' = epsilon(x),

plus the rotation phi of every torsional spring or hinge and the give of every spring along and
across a link, free where its stiffness is zero. A clamped chain is statically determinate, so
these strains are free of constraints, and all displacements follow from them by integration from
the base outwards. The strain energy is diagonal (Legendre polynomials are orthogonal); scaled to
the identity, the whole model is one matrix B whose rows are sqrt(mass) times displacement at
Gauss points and at the tip bodies, so that

    kinetic energy = omega^2 |B q|^2 / 2,   strain energy = |q|^2 / 2,

and the singular values of B are 1 / omega.

A theory is a choice of strains and rows: Rayleigh drops gamma, Euler-Bernoulli also the rows of
the rotary inertia, bending-only also epsilon (links axially rigid). Nothing locks, no stiffness
is inverted, and a frequency loses only eps * omega_k / omega_1, where an eigensolver on (K, M)
would lose eps * (omega_max / omega_1)^2. The strains form a Ritz basis: frequencies converge from
above.

A support at a tip adds its own strain energy, of a displacement that follows from the strains; a rigid one is a linear
condition on them. An axial force N(x), linear along a link, adds N v'^2/2 per length, v' = psi + gamma, and what the
forces at rest resist a turn of its rigid ends with: a geometric stiffness of either sign.
"""

from .cases import THEORIES, Case, FELink, case_from_arm, case_from_dict
from .frequencies_and_counts import count_below, counts_below, frequencies
from .geometric_stiffness import stiffness, tip_receptance
from .model import mass_factor
from .supports import hinges

__all__ = [
    "THEORIES",
    "Case",
    "FELink",
    "case_from_arm",
    "case_from_dict",
    "count_below",
    "counts_below",
    "frequencies",
    "hinges",
    "mass_factor",
    "stiffness",
    "tip_receptance",
]
