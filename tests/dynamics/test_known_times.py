"""Motions asked at known times: one program for a kind, and classes of a caller as they are."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamics import RestToRest
from jaxmodal.dynamics.drives.motions import Motion, angles_at
from tests.support.compiled_programs import names_of_programs

#: of a number of joints that no other test has
END = np.linspace(0.2, 1.0, 11)
PARTS = np.array([0.0, 0.25, 0.5, 1.0])
#: the polynomial of `RestToRest` over 2 s, and its first two derivatives
WAY = PARTS**3 * (10.0 - 15.0 * PARTS + 6.0 * PARTS**2)
SPEED = 30.0 * PARTS**2 * (1.0 - PARTS) ** 2 / 2.0
CHANGE = 60.0 * PARTS * (1.0 - PARTS) * (1.0 - 2.0 * PARTS) / 4.0


def test_other_times_and_values_compile_nothing_new():
    """A call gives angles, rates and accelerations; each operation was a program once, for every call anew."""
    jax.block_until_ready(RestToRest(0.0 * END, 0.5 * END, 1.0)(0.3))
    move = RestToRest(0.0 * END, END, 2.0)
    with names_of_programs() as programs:
        found = np.array([move(2.0 * part) for part in PARTS])
    assert programs == []
    expected = np.stack([WAY, SPEED, CHANGE], axis=1)[:, :, None] * END
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
    with names_of_programs() as programs:
        angles = angles_at(move, 2.0 * PARTS)
    assert len(programs) <= 1
    np.testing.assert_allclose(angles, WAY[:, None] * END, rtol=1e-14, atol=1e-15)


@dataclasses.dataclass(frozen=True, repr=False)
class Swung(Motion):
    """A motion of a caller that is no pytree, with a word among its values."""

    name: str = "swung"

    def angles(self, time):
        return jnp.stack([jnp.sin(time), 2.0 * jnp.asarray(time)])


def test_a_motion_that_no_program_takes_is_computed_as_it_is():
    sine, cosine = np.sin(0.4), np.cos(0.4)
    expected = [[sine, 0.8], [cosine, 2.0], [-sine, 0.0]]
    np.testing.assert_allclose(Swung()(0.4), expected, rtol=1e-15, atol=0.0)


def test_times_and_values_may_be_traced():
    def at_half(duration):
        return RestToRest(np.zeros(1), np.ones(1), duration)(0.5 * duration)[1][0]

    # the speed half-way is 15/8 of the mean speed
    speed, slope = jax.jit(jax.value_and_grad(at_half))(4.0)
    np.testing.assert_allclose(speed, 1.875 / 4.0, rtol=1e-14, atol=0.0)
    np.testing.assert_allclose(slope, -1.875 / 16.0, rtol=1e-14, atol=0.0)
