"""What forward dynamics costs by links: B factorised beside the articulated recursion, in the plane and in space."""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

LINKS = tuple(range(1, 11))


def spent(call: Callable[[], Any]) -> float:
    """Processor time of a call that returns arrays of JAX, s."""
    import jax

    start = time.process_time()
    jax.block_until_ready(call())  # type: ignore[no-untyped-call]
    return time.process_time() - start


def _tenfold(program: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [program(*arguments) for _ in range(10)]


def chain(links: int, modes: int) -> Any:
    """A model of equal links with hubs and a payload."""
    import jaxmodal as jm
    from jaxmodal.dynamics import flexible_arm

    section = jm.raw_section(area=1e-4, second_moment=1.0 / 7e10)
    link = jm.Link(0.5, 7e10, 2000.0, section, hub_mass=0.1, hub_inertia=0.01)
    return flexible_arm(jm.Arm((link,) * links, jm.Payload(0.1, 5e-4)), modes, gravity=(0.0, -9.81))


def forward(repeats: int, batch: int = 512, modes: int = 2) -> list[dict[str, Any]]:
    """Forward dynamics of chains of 1 to 10 links: B factorised, and the articulated recursion."""
    from jaxmodal.dynamics.mechanics import recursion

    return [both_ways(chain(links, modes), recursion.solved, repeats, batch) for links in LINKS]


def told(repeats: int, batch: int = 512, modes: int = 2) -> list[dict[str, Any]]:
    """The same where the motors move as they are told."""
    import jax.numpy as jnp

    from jaxmodal.dynamics.mechanics import recursion, solves

    def by_recursion(model: Any, q: Any, right: Any, given: Any) -> Any:
        free = model.layout.free
        return recursion.solved(model, q, jnp.where(free > 0.0, right, given), held=True)

    def factorised(model: Any, matrix: Any, right: Any, given: Any) -> Any:
        return solves.solve_held(matrix, right, model.layout.free, given)[0]

    return [
        both_ways(chain(links, modes), by_recursion, repeats, batch, factorised) for links in LINKS
    ]


#: shapes of each link in space: bending in each plane, torsion, stretch
SHAPES = ((2, 0, 0), (2, 1, 1), (3, 1, 1))
LINKS_IN_SPACE = (2, 3, 5, 7)


def chain_in_space(links: int, shapes: tuple[int, int, int]) -> Any:
    """A model of equal links, each joint at a right angle to the one before, with hubs and a payload."""
    import jaxmodal as jm
    from jaxmodal.dynamics import flexible_arm

    section = jm.rectangle(0.01, 0.02, "cowper")
    hub = jm.RigidBody(0.1, inertia=(0.01, 0.01, 0.01))
    link = jm.SpatialLink(0.5, 7e10, 2700.0, section, poisson_ratio=0.33, hub=hub)
    second = link.replace(joint_axis=(0.0, 1.0, 0.0))
    arm = jm.SpatialArm(((link, second) * links)[:links], jm.RigidBody(0.1))
    names = ("bending_xy", "bending_xz", "torsion", "stretch")
    counts = dict(zip(names, (shapes[0], *shapes), strict=True))
    return flexible_arm(arm, counts, gravity=(0.0, 0.0, -9.81))


def space_station_arm() -> Any:
    """Seven joints on springs with geared rotors, two booms of seven shapes each, the other links rigid."""
    import jaxmodal as jm
    from jaxmodal.dynamics import flexible_arm

    geared = {"joint_stiffness": 1e6, "rotor_inertia": 0.05, "gear_ratio": 10.0, "motor": "held"}
    short = jm.SpatialLink(0.64, rigid=True, nonstructural_mass=110.0, **geared)
    tube = jm.hollow_circle(0.33, 0.0028, "cowper")
    boom = jm.SpatialLink(7.0, 7e10, 2700.0, tube, poisson_ratio=0.33, **geared)
    across = {"joint_axis": (0.0, 1.0, 0.0)}
    links = (short, short, boom, boom, short, short, short)
    turned = tuple(link.replace(**across) if k % 2 else link for k, link in enumerate(links))
    counts = {"bending_xy": 2, "bending_xz": 2, "torsion": 2, "stretch": 1}
    return flexible_arm(jm.SpatialArm(turned, jm.RigidBody(100.0)), counts)


def in_space(repeats: int, batch: int = 512) -> list[dict[str, Any]]:
    """Forward dynamics of chains in space, and of an arm of seven joints with two flexible booms."""
    from jaxmodal.dynamics.mechanics import recursion_in_space

    models = [chain_in_space(links, shapes) for shapes in SHAPES for links in LINKS_IN_SPACE]
    models.append(space_station_arm())
    return [both_ways(model, recursion_in_space.solved, repeats, batch) for model in models]


def both_ways(
    model: Any,
    solved: Callable[..., Any],
    repeats: int,
    batch: int,
    factorised: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """Microseconds a state of forward dynamics, by B factorised and by the recursion, and what they differ by.

    With ``factorised``, both take the accelerations of the motors in place of their torques.
    """
    import jax

    from jaxmodal.dynamics.mechanics import equations
    from jaxmodal.dynamics.mechanics.solves import solve_definite

    def right(q: Any, rate: Any, torques: Any) -> Any:
        return equations.applied(model, torques) - equations.resistance(model, q, rate)

    links, size = model.num_links, model.num_coordinates
    rng = np.random.default_rng(links)
    q = rng.uniform(-0.05, 0.05, (batch, size))
    rate = rng.uniform(-1.0, 1.0, q.shape)
    torques = rng.uniform(-1.0, 1.0, (batch, links))
    forms: dict[str, Callable[..., Any]] = {
        "dense": lambda a, b, c: solve_definite(equations.inertia(model, a), right(a, b, c))[0],
        "recursive": lambda a, b, c: solved(model, a, right(a, b, c))[0],
    }
    if factorised is not None:
        forms = {
            "dense": lambda a, b, c: factorised(
                model, equations.inertia(model, a), right(a, b, 0 * c), equations.applied(model, c)
            ),
            "recursive": lambda a, b, c: solved(
                model, a, right(a, b, 0 * c), equations.applied(model, c)
            )[0],
        }
    row: dict[str, Any] = {"links": links, "modes": list(model.modes), "coordinates": size}
    compiled, results = {}, {}
    for name, form in forms.items():
        start = time.process_time()
        compiled[name] = jax.jit(jax.vmap(form)).lower(q, rate, torques).compile()
        row[f"{name}_compile_s"] = time.process_time() - start
        results[name] = np.asarray(compiled[name](q, rate, torques))
    times: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(repeats):
        for name, program in compiled.items():
            times[name].append(spent(functools.partial(_tenfold, program, q, rate, torques)))
    for name, values in times.items():
        row[f"{name}_us"] = 1e5 * statistics.median(values) / batch
    gap = np.abs(results["dense"] - results["recursive"]).max(axis=1)
    row["largest_difference"] = float((gap / np.abs(results["dense"]).max(axis=1)).max())
    print(
        f"{links:3} links, {size:3} coordinates: dense {row['dense_us']:8.2f} us, recursive "
        f"{row['recursive_us']:8.2f} us, difference {row['largest_difference']:.0e}",
        flush=True,
    )
    return row
