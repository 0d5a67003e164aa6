"""The rivals of `benchmarks.symbolic`: SymPy's mechanics and SymEngine on the system that jaxmodal writes out.

SymPy's particles and rigid bodies do not bend. For Kane's method a link is four particles of mass 1 whose places are
combinations of 1, x, phi_1 and phi_2, by the Cholesky factor of its Gram matrix: the same system exactly. The others
get its energies.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

MODES = 2
TERMS = ("B", "h", "g")
#: what all rivals solve
POSED = ("full", "rotation", False)


def chain(links: int, posed: tuple[str, str, bool]) -> Any:
    """A model of equal links with hubs and a payload."""
    from benchmarks.forward_dynamics import chain as equal_links

    return equal_links(links, MODES).posed(*posed)


def processor_time(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor time of a call, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def rival(name: str, links: int) -> dict[str, Any]:
    """One rival: seconds, operations with its own common subexpressions, its distance to the written equations."""
    importlib.import_module("sympy.physics.mechanics")
    _constants(links)  # what is imported is imported before the clock starts
    start = time.process_time()
    if name == "symengine":
        inertia, forces, places = by_symengine(links)
    else:
        inertia, forces, places = by_sympy(links, name)
    derived = time.process_time() - start
    entries = [*inertia, *forces]
    count, common = _operations(name, entries)
    return {
        "links": links,
        "derive_s": derived,
        "common_subexpressions_s": common,
        "operations": count,
        "difference": _difference(links, inertia, forces, places),
    }


def _operations(name: str, entries: list[Any]) -> tuple[int, float]:
    """Operations with common subexpressions apart, a product or sum of k parts as k - 1; powers as products."""
    import sympy

    if name == "symengine":
        import symengine

        spent, (steps, rest) = processor_time(lambda: symengine.cse(entries))
        forms = [sympy.sympify(form) for _, form in steps] + [sympy.sympify(form) for form in rest]
    else:
        spent, (steps, rest) = processor_time(lambda: sympy.cse(entries))
        forms = [form for _, form in steps] + list(rest)
    return sum(_cost(form) for form in forms), spent


def _cost(form: Any) -> int:
    """Operations of one expression."""
    own = 0
    if form.is_Add or form.is_Mul:
        own = len(form.args) - 1
        own -= sum(part == -1 for part in form.args) if form.is_Mul else 0
    elif form.is_Pow:
        return int(abs(int(form.exp))) - 1 + _cost(form.base)
    elif form.is_Function:
        own = 1
    return own + sum(_cost(part) for part in form.args)


def _constants(links: int) -> tuple[Any, dict[str, float]]:
    from jaxmodal.symbolic import written_equations

    written = written_equations(chain(links, POSED), TERMS)
    values = {s.name: s.value for s in written.symbols.values() if s.value is not None}
    return written, values


def _difference(links: int, inertia: list[Any], forces: list[Any], places: list[Any]) -> float:
    """Largest difference of B and of h + g at one state, over the largest entry of each."""
    from jaxmodal.symbolic import function

    written, values = _constants(links)
    size = len(written.coordinates)
    rng = np.random.default_rng(0)
    q, rate = rng.uniform(-0.3, 0.3, (2, size))
    expected = function(written)(q, rate)
    at = dict(zip(places, [*q, *rate], strict=True))
    numbers = {}
    for symbol in set().union(*(form.free_symbols for form in [*inertia, *forces])):
        if symbol not in at and str(symbol) in values:
            numbers[symbol] = values[str(symbol)]
    for name, value in _cholesky(links).items():
        for symbol in set().union(*(form.free_symbols for form in [*inertia, *forces])):
            if str(symbol) == name:
                numbers[symbol] = value
    whole = {**at, **numbers}
    found = [float(form.subs(whole)) for form in [*inertia, *forces]]
    gaps = []
    for part, known in (
        (found[: size * size], expected["B"].ravel()),
        (found[size * size :], expected["h"] + expected["g"]),
    ):
        gaps.append(float(np.abs(np.array(part) - known).max() / np.abs(known).max()))
    return max(gaps)


def _points(links: int, package: Any, q: list[Any], sine: Any, cosine: Any) -> list[list[Any]]:
    """Of every link the places that multiply 1, x, phi_1, phi_2 in the positions of its points, each (x, y)."""
    angle: Any = package.Integer(0)
    base = (package.Integer(0), package.Integer(0))
    made = []
    for i in range(1, links + 1):
        angle = angle + q[i - 1]
        deltas = q[links + MODES * (i - 1) : links + MODES * i]
        axis = (cosine(angle), sine(angle))
        across = (-axis[1], axis[0])
        bent = [tuple(delta * part for part in across) for delta in deltas]
        made.append([base, axis, *bent])
        length = package.Symbol(f"l_{i}")
        tips = [package.Symbol(f"phi_{i}_{j}") for j in range(1, MODES + 1)]
        deflection = sum(tip * delta for tip, delta in zip(tips, deltas, strict=True))
        base = tuple(
            at + length * forth + deflection * side
            for at, forth, side in zip(base, axis, across, strict=True)
        )
        slopes = [package.Symbol(f"dphi_{i}_{j}") for j in range(1, MODES + 1)]
        angle = angle + sum(slope * delta for slope, delta in zip(slopes, deltas, strict=True))
    return made


def _gram(i: int, package: Any, links: int) -> list[list[Any]]:
    """Scalar products of 1, x, phi_1, phi_2 of link i, by the names of the written equations; 0 where there is none."""
    names: list[list[str]] = [[""] * 4 for _ in range(4)]
    names[0][0], names[0][1], names[1][1] = f"m_{i}", f"md_{i}", f"Jo_{i}"
    for j in (1, 2):
        names[0][1 + j], names[1][1 + j] = f"v_{i}_{j}", f"w_{i}_{j}"
        for k in range(j, 3):
            names[1 + j][1 + k] = f"z_{i}_{j}_{k}"
    return [[package.Symbol(names[min(a, b)][max(a, b)]) for b in range(4)] for a in range(4)]


def _turning(links: int, package: Any, rates: list[Any]) -> Any:
    """Energy of what turns: hubs with their frames, the payload with the end of the last link."""
    written, _ = _constants(links)
    bodies = sorted(name for name in written.symbols if name.startswith("J_"))
    total: Any = package.Integer(0)
    frame: Any = package.Integer(0)
    half = package.Rational(1, 2)
    for i in range(1, links + 1):
        frame = frame + rates[i - 1]
        total = total + half * package.Symbol(bodies[i - 1]) * frame**2
        own = rates[links + MODES * (i - 1) : links + MODES * i]
        slopes = [package.Symbol(f"dphi_{i}_{j}") for j in range(1, MODES + 1)]
        frame = frame + sum(slope * rate for slope, rate in zip(slopes, own, strict=True))
    return total + half * package.Symbol(bodies[links]) * frame**2


def by_symengine(links: int) -> tuple[list[Any], list[Any], list[Any]]:
    """B and h + g by derivatives of the energies in SymEngine."""
    import symengine

    size = links * (1 + MODES)
    q = [symengine.Symbol(f"q{k}") for k in range(size)]
    rates = [symengine.Symbol(f"u{k}") for k in range(size)]
    points = _points(links, symengine, q, symengine.sin, symengine.cos)
    gravity = symengine.Symbol("g_y")
    energy, potential = _turning(links, symengine, rates), symengine.Integer(0)
    for i, link in enumerate(points, start=1):
        table = _gram(i, symengine, links)
        speeds = [
            [sum(symengine.diff(part, x) * u for x, u in zip(q, rates, strict=True)) for part in at]
            for at in link
        ]
        for a in range(4):
            potential = potential - table[0][a] * gravity * link[a][1]
            for b in range(4):
                product = speeds[a][0] * speeds[b][0] + speeds[a][1] * speeds[b][1]
                energy = energy + symengine.Rational(1, 2) * table[a][b] * product
    momenta = [symengine.diff(energy, u) for u in rates]
    inertia = [symengine.diff(p, u) for p in momenta for u in rates]
    forces = [
        sum(symengine.diff(p, x) * u for x, u in zip(q, rates, strict=True))
        - symengine.diff(energy - potential, at)
        for p, at in zip(momenta, q, strict=True)
    ]
    return inertia, forces, [*q, *rates]


def _cholesky(links: int) -> dict[str, float]:
    """Values of the particles' coefficients: the Gram matrix of each link as a sum of four squares."""
    model = chain(links, POSED)
    found = {}
    for i, table in enumerate(np.asarray(model.gram)[:, :4, :4], start=1):
        lower = np.linalg.cholesky(table)
        found |= {f"c_{i}_{p}_{a}": float(lower[a, p]) for p in range(4) for a in range(p, 4)}
    return found


def by_sympy(links: int, method: str) -> tuple[list[Any], list[Any], list[Any]]:
    """B and h + g by `LagrangesMethod` from the energies, or by `KanesMethod` from particles.

    SymPy's particles and rigid bodies do not bend. A link's energy is that of four particles of mass 1 whose places
    are combinations of 1, x, phi_1 and phi_2, by the Cholesky factor of its Gram matrix, so that Kane's method sees
    the same system exactly.
    """
    import sympy
    from sympy.physics.mechanics import (
        KanesMethod,
        LagrangesMethod,
        Particle,
        Point,
        ReferenceFrame,
        dynamicsymbols,
    )

    size = links * (1 + MODES)
    q = list(dynamicsymbols(f"q0:{size}"))
    moment = dynamicsymbols._t
    rates = [place.diff(moment) for place in q]
    points = _points(links, sympy, q, sympy.sin, sympy.cos)
    gravity = sympy.Symbol("g_y")
    plain = [*sympy.symbols(f"x0:{size}"), *sympy.symbols(f"u0:{size}")]
    if method == "lagrange":
        energy, potential = _turning(links, sympy, rates), sympy.Integer(0)
        for i, link in enumerate(points, start=1):
            table = _gram(i, sympy, links)
            speeds = [[sympy.diff(part, moment) for part in at] for at in link]
            for a in range(4):
                potential = potential - table[0][a] * gravity * link[a][1]
                for b in range(4):
                    product = speeds[a][0] * speeds[b][0] + speeds[a][1] * speeds[b][1]
                    energy = energy + sympy.Rational(1, 2) * table[a][b] * product
        lagrange = LagrangesMethod(energy - potential, q)
        lagrange.form_lagranges_equations()
        inertia, forces = lagrange.mass_matrix, -lagrange.forcing
        replaced = dict(zip([*rates, *q], [*plain[size:], *plain[:size]], strict=True))
    else:
        speeds = list(dynamicsymbols(f"u0:{size}"))
        known = dict(zip(rates, speeds, strict=True))
        frame, origin = ReferenceFrame("N"), Point("O")
        origin.set_vel(frame, 0)
        particles, loads = [], []
        for i, link in enumerate(points, start=1):
            for p in range(4):
                factors = {a: sympy.Symbol(f"c_{i}_{p}_{a}") for a in range(p, 4)}
                at = [sum(c * link[a][axis] for a, c in factors.items()) for axis in (0, 1)]
                point = Point(f"P_{i}_{p}")
                point.set_pos(origin, at[0] * frame.x + at[1] * frame.y)
                speed = [sympy.diff(part, moment).subs(known) for part in at]
                point.set_vel(frame, speed[0] * frame.x + speed[1] * frame.y)
                particles.append(Particle(f"p_{i}_{p}", point, sympy.Integer(1)))
                if p == 0:  # the first function is 1: its coefficient's square is the mass
                    weight = factors[0] * gravity
                    loads.append((point, weight * frame.y))
        # what turns, as particles on an axis of its own: their speed is the rate times the root of the inertia
        for number, (inertia_of, rate) in enumerate(_rates_of_turning(links, sympy, speeds)):
            point = Point(f"T_{number}")
            point.set_pos(origin, 0 * frame.z)
            point.set_vel(frame, rate * frame.z)
            particles.append(Particle(f"t_{number}", point, inertia_of))
        kane = KanesMethod(
            frame, q_ind=q, u_ind=speeds, kd_eqs=[u - r for u, r in zip(speeds, rates, strict=True)]
        )
        kane.kanes_equations(particles, loads)
        inertia, forces = kane.mass_matrix, -kane.forcing
        replaced = dict(zip([*speeds, *q], [*plain[size:], *plain[:size]], strict=True))
    return (
        [entry.subs(replaced) for entry in inertia],
        [entry.subs(replaced) for entry in forces],
        plain,
    )


def _rates_of_turning(links: int, package: Any, rates: list[Any]) -> list[tuple[Any, Any]]:
    written, _ = _constants(links)
    bodies = sorted(name for name in written.symbols if name.startswith("J_"))
    frame: Any = package.Integer(0)
    found = []
    for i in range(1, links + 1):
        frame = frame + rates[i - 1]
        found.append((package.Symbol(bodies[i - 1]), frame))
        own = rates[links + MODES * (i - 1) : links + MODES * i]
        frame = frame + sum(
            package.Symbol(f"dphi_{i}_{j}") * rate for j, rate in enumerate(own, start=1)
        )
    return [*found, (package.Symbol(bodies[links]), frame)]
