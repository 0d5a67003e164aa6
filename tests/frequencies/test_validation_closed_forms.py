"""Validation against frequency equations of the literature, solved here in 40 digits.

Each equation is solved without any count or finite element: its sign changes on a fine grid are
refined by mpmath. Both the engine and the finite-element truth are held against the same roots.
"""

import json
from collections.abc import Callable
from functools import cache

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from tests.support import finite_elements
from tests.support.problems import CLOSED_FORM, DATA, PRINTED_DIGITS

DIGITS = 40
NUM_MODES = 10


def bracketed_root(equation: Callable, low, high):
    """The root between low and high by Anderson-Bjorck, proven by a sign change 1e-30 wide."""
    x = mp.findroot(equation, (low, high), solver="anderson", tol=mpf(10) ** -75, verify=False)
    width = mpf(10) ** -30
    assert equation(x * (1 - width)) * equation(x * (1 + width)) < 0
    return x


def roots(equation: Callable, top: float, points: int = 500) -> list:
    """All simple roots of equation(x) on (0, top], to 40 digits; the grid is finest at 0, for those of soft springs."""
    with mp.workdps(DIGITS):
        grid = [mpf(top) * k**2 / points**2 for k in range(1, points + 1)]
        values = [equation(x) for x in grid]
        found = []
        for low, high, left, right in zip(
            grid[:-1], grid[1:], values[:-1], values[1:], strict=True
        ):
            if left * right < 0:
                found.append(bracketed_root(equation, low, high))
        return found


def lowest(*families: list) -> list:
    """The lowest frequencies of several families of modes, up to where every family is complete."""
    top = min(family[-1] for family in families)
    return sorted(omega for family in families for omega in family if omega <= top)[:NUM_MODES]


LINK = {"L": 0.7, "E": 7.0e10, "I": 2.0e-9, "A": 3.0e-4, "rho": 2700.0, "kG": 1.0e10}
"""One link with round numbers; L/h = 78 or so."""
STOCKY = {**LINK, "L": 0.02}
"""The same section at L/h = 2: half of the ten modes lie above the cut-off frequency."""


def entry(model, link, M=0.0, J=0.0, kT=None):
    """A one-link entry in the letters of the oracle's file."""
    body = {"M": M, "J": J, "theta": 0.0, "kT": kT}
    return {"id": "link", "model": model, "links": [{**link, **body}]}


def bending_scale(link):
    """sqrt(EI / (rho A)) / L^2: omega = scale x^2."""
    E, Iz, A, rho, L = (mpf(link[key]) for key in ("E", "I", "A", "rho", "L"))
    return mp.sqrt(E * Iz / (rho * A)) / L**2


def bar_roots(link, mass_ratio=0.0):
    """Axial: cos y = mu y sin y with y = omega L sqrt(rho / E), mu = tip mass / link mass."""
    found = roots(lambda y: mp.cos(y) - mpf(mass_ratio) * y * mp.sin(y), 40)
    return [y / mpf(link["L"]) * mp.sqrt(mpf(link["E"]) / mpf(link["rho"])) for y in found]


def beam_roots(link, equation, top=40):
    return [bending_scale(link) * x**2 for x in roots(equation, top)]


def cantilever(x):
    return 1 + mp.cos(x) * mp.cosh(x)


def tip_body_cantilever(mass, inertia):
    """Clamped, with M and J at the tip as ratios to rho A L and rho A L^3 (Euler-Bernoulli)."""

    def equation(x):
        s, c, S, C = mp.sin(x), mp.cos(x), mp.sinh(x), mp.cosh(x)
        return (
            (1 + c * C)
            - mass * x * (s * C - c * S)
            - inertia * x**3 * (s * C + c * S)
            + mass * inertia * x**4 * (1 - c * C)
        )

    return equation


def sprung_base(stiffness):
    """Base on a torsional spring of k L / (EI), tip free: k (1 + c C) = x (s C - c S)."""

    def equation(x):
        s, c, S, C = mp.sin(x), mp.cos(x), mp.sinh(x), mp.cosh(x)
        return stiffness * (1 + c * C) - x * (s * C - c * S)

    return equation


def huang_clamped_free(link, shear: bool):
    """Huang's frequency equation of the clamped-free Timoshenko beam, as a function of omega.

    T. C. Huang, J. Appl. Mech. 28 (1961) 579-584, the clamped-free equation; without shear
    (s = 0) it is Rayleigh's beam. Multiplied by alpha beta so that nothing is singular at the
    cut-off; beyond it alpha is imaginary and the same expression stays real.
    """
    E, Iz, A, rho, L, kG = (mpf(link[key]) for key in ("E", "I", "A", "rho", "L", "kG"))
    r2 = Iz / (A * L**2)
    s2 = E * Iz / (kG * A * L**2) if shear else mpf(0)

    def equation(omega):
        b2 = rho * A * L**4 * omega**2 / (E * Iz)
        root = mp.sqrt((r2 - s2) ** 2 + 4 / b2)
        x = mp.sqrt(b2) * mp.sqrt(mp.mpc((root - r2 - s2) / 2))
        y = mp.sqrt(b2) * mp.sqrt((root + r2 + s2) / 2)
        even = 2 + (b2 * (r2 - s2) ** 2 + 2) * mp.cosh(x) * mp.cos(y)
        # b (r2 + s2) / sqrt(1 - b2 r2 s2) sinh x sin y, with x y = b sqrt(1 - b2 r2 s2)
        odd = b2 * (r2 + s2) * (mp.sinh(x) / x) * (mp.sin(y) / y)
        return mp.re(even - odd)

    return equation


def shear_roots(link, shear, top):
    """Roots in omega up to ``top`` (rad/s), searched over sqrt(omega), where they lie evenly."""
    equation = huang_clamped_free(link, shear)
    return [x**2 for x in roots(lambda x: equation(x**2), top**0.5, 500)]


def ratios(link, M, J):
    total = mpf(link["rho"]) * mpf(link["A"]) * mpf(link["L"])
    return mpf(M) / total, mpf(J) / (total * mpf(link["L"]) ** 2)


def _bar():
    stiff = {**LINK, "I": 1.0}
    return entry("euler_bernoulli", stiff), bar_roots(stiff)


def _tip_mass(M, J):
    mass, inertia = ratios(LINK, M, J)
    flexural = beam_roots(LINK, tip_body_cantilever(mass, inertia))
    return entry("euler_bernoulli", LINK, M, J), lowest(flexural, bar_roots(LINK, mass))


def _sprung(k):
    ratio = mpf(k) * mpf(LINK["L"]) / (mpf(LINK["E"]) * mpf(LINK["I"]))
    flexural = beam_roots(LINK, sprung_base(ratio))
    return entry("bending_only", LINK, kT=k), flexural


def _deep(model, link, top):
    return entry(model, link), lowest(
        shear_roots(link, model == "timoshenko", top), bar_roots(link)
    )


EQUATIONS: dict[str, Callable] = {
    "cantilever, bending only": lambda: (
        entry("bending_only", LINK),
        beam_roots(LINK, cantilever),
    ),
    "cantilever with axial modes": lambda: (
        entry("euler_bernoulli", STOCKY),
        lowest(beam_roots(STOCKY, cantilever), bar_roots(STOCKY)),
    ),
    "bar: bending far above the axial modes": _bar,
    "tip mass": lambda: _tip_mass(0.4, 0.0),
    "tip inertia": lambda: _tip_mass(0.0, 3e-3),
    "tip body, light": lambda: _tip_mass(1e-4, 1e-8),
    "tip body, heavy": lambda: _tip_mass(200.0, 50.0),
    "base spring 1e-3": lambda: _sprung(1e-3),
    "base spring 1e2": lambda: _sprung(1e2),
    "base spring 1e9": lambda: _sprung(1e9),
    "Timoshenko, slender": lambda: _deep("timoshenko", LINK, 6e4),
    "Timoshenko, beyond the cut-off": lambda: _deep("timoshenko", STOCKY, 3e6),
    "Rayleigh, slender": lambda: _deep("rayleigh", LINK, 6e4),
    "Rayleigh, stocky": lambda: _deep("rayleigh", STOCKY, 1e7),
}


@cache
def solved(name):
    with mp.workdps(DIGITS):
        problem, omega = EQUATIONS[name]()
        assert len(omega[:NUM_MODES]) == NUM_MODES
        return problem, tuple(omega[:NUM_MODES])


def by_engine(problem):
    import jaxmodal as jm
    from tests.support.problems import arm_from_entry

    result = jm.natural_frequencies(
        arm_from_entry(problem), num_modes=NUM_MODES, theory=problem["model"]
    )
    assert np.all(np.asarray(result.certified))
    return np.asarray(result.omega)


def by_finite_elements(problem):
    return finite_elements.frequencies(finite_elements.case_from_dict(problem), NUM_MODES, 40)


@pytest.mark.parametrize("solver", [by_engine, by_finite_elements])
@pytest.mark.parametrize("name", EQUATIONS)
def test_frequency_equation(name, solver):
    problem, exact = solved(name)
    computed = solver(problem)
    with mpmath.workdps(DIGITS):
        pairs = zip(computed, exact, strict=True)
        errors = [abs(float(mpf(float(value)) / true - 1)) for value, true in pairs]
    assert max(errors) <= CLOSED_FORM, errors


def test_the_first_cantilever_roots_are_the_handbook_ones():
    """x_k of cos x cosh x = -1 as every handbook prints them."""
    printed = ["1.87510407", "4.69409113", "7.85475744", "10.99554073", "14.13716839"]
    for text, x in zip(printed, roots(cantilever, 16), strict=True):
        assert abs(float(x) - float(text)) <= PRINTED_DIGITS * 1e-8


def test_the_stocky_beam_has_modes_beyond_its_cutoff():
    problem, exact = solved("Timoshenko, beyond the cut-off")
    link = problem["links"][0]
    cutoff = np.sqrt(link["kG"] * link["A"] / (link["rho"] * link["I"]))
    assert exact[0] < cutoff < exact[6]


@pytest.mark.parametrize("solver", [by_engine, by_finite_elements])
@pytest.mark.parametrize("link", [1, 2])
def test_de_luca_and_siciliano(link, solver):
    """The clamped-mass modes of De Luca and Siciliano (1991), section VII, printed and exact."""
    data = json.loads((DATA / "deluca.json").read_text())
    mp_, m2, mh2, Jh, Jp, l2 = 0.1, 0.1, 1.0, 0.1, 0.0005, 0.5
    M, J = (m2 + mh2 + mp_, m2 * l2**2 / 3 + Jh + Jp + mp_ * l2**2) if link == 1 else (mp_, Jp)
    beam = {**LINK, "L": 0.5, "E": 1.0, "I": 1.0, "A": 1.0, "rho": 0.2}  # EI = 1, 0.2 kg/m
    omega = solver(entry("bending_only", beam, M, J))
    for mode in (1, 2):
        name = f"f{link}{mode}"
        hertz = omega[mode - 1] / (2 * np.pi)
        assert abs(hertz / float(data["values"][name]) - 1) <= CLOSED_FORM
        assert abs(hertz - float(data["printed"][name])) <= PRINTED_DIGITS * 1e-2
