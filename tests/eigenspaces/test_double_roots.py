"""Derivatives where frequencies coincide or nearly do, and second derivatives: right, marked or refused."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.eigenspaces import frequency_derivatives
from jaxmodal.eigenspaces.frequency_derivatives import individual_modes
from tests.support.frequencies_of_rows import (
    AD_VS_FD,
    DOUBLE_ROOT_DEG,
    HESSIAN_VS_FD,
    NUM_MODES,
    differences,
    industrial,
    of_cells,
    one_by_one,
)
from tests.support.problems import problems

ONE_SIDED = 1e-6
"""One-sided differences of fourth order at a double root, relative to the larger derivative."""


@pytest.fixture
def law_of_dimension(monkeypatch):
    """omega ~ L^-2 as a stand-in for the gradient: what compiles for seconds is not what is asked."""

    def gradient(points, beams, theory, omega, multiplicity):
        none = jax.tree_util.tree_map(lambda x: np.zeros((omega.shape[0], x.size)), beams)
        return dataclasses.replace(none, length=-2.0 * omega[:, None] / beams.length[None])

    monkeypatch.setattr(frequency_derivatives, "mean_gradient", gradient)


def test_second_derivatives_go_through_the_frequencies(law_of_dimension):
    arm = jm.Arm((jm.Link(2.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05)),))

    def omega(length):
        changed = jm.set_parameters(arm, {"link1.length": length})
        return jm.natural_frequencies(changed, 1, theory="bending_only").omega[0]

    expected = 6 * float(omega(2.0)) / 4
    assert float(jax.grad(jax.grad(omega))(2.0)) == pytest.approx(expected, rel=1e-12)


class TestDoubleRoot:
    """Modes 2 and 3 of the three-link arm coincide to the last digit of the angles."""

    arm = property(lambda self: industrial(*DOUBLE_ROOT_DEG))

    def test_single_members_are_refused(self):
        with pytest.raises(jm.RepeatedFrequencyError, match=r"modes 2 to 3 near 37\.0643"):
            jm.sensitivities(self.arm, 4)
        with pytest.raises(jm.RepeatedFrequencyError, match="modes 2 to 3"):
            jm.sensitivities(self.arm, 2)  # also where the list ends inside the pair

    def test_mean_is_marked(self):
        table = jm.sensitivities(self.arm, 4, repeated="mean")
        assert table.individual.tolist() == [True, False, False, True]
        assert np.array_equal(table.derivative[1], table.derivative[2])
        assert np.all(np.isfinite(table.derivative))

    def test_single_members_are_marked_for_jax(self):
        """jax.grad of one member gives the mean of the pair, and this says so, cut list or not."""
        for number, expected in ((2, [True, False]), (4, [True, False, False, True])):
            found = jm.natural_frequencies(self.arm, number)
            assert individual_modes(found.omega, found.multiplicity).tolist() == expected
        near = jnp.array([1.0, 2.0, 2.0 * (1 + 1e-10), 3.0])
        assert individual_modes(near, jnp.ones(4, int)).tolist() == [True, False, False, True]

    def test_gradient_of_a_single_member_is_the_mean_also_in_a_cut_list(self):
        def member(number, mode):
            def omega(angle):
                arm = jm.set_parameters(self.arm, {"link2.joint_angle": angle})
                return jm.natural_frequencies(arm, number).omega[mode]

            return float(jax.grad(omega)(self.arm.links[1].joint_angle))

        table = jm.sensitivities(self.arm, 4, repeated="mean", addresses=["link2.joint_angle"])
        mean = float(table.derivative[1, 0])
        for number, mode in ((2, 1), (NUM_MODES, 1), (NUM_MODES, 2)):
            assert member(number, mode) == pytest.approx(mean, rel=1e-10)

    @pytest.mark.slow
    def test_second_derivatives_are_refused(self, law_of_dimension):
        def omega(length, number, mode):
            arm = jm.set_parameters(self.arm, {"link2.length": length})
            return jm.natural_frequencies(arm, number).omega[mode]

        start = float(self.arm.links[1].length)
        with pytest.raises(jm.RepeatedFrequencyError, match=r"second derivatives of modes 2, 3"):
            jax.grad(jax.grad(omega))(start, NUM_MODES, 1)
        assert np.isfinite(jax.grad(jax.grad(omega))(start, 1, 0))  # the remedy: fewer modes
        both = functools.partial(omega, number=NUM_MODES, mode=slice(2))
        traced = np.asarray(jax.jit(jax.jacfwd(jax.jacfwd(both)))(start))
        assert np.isfinite(traced[0])
        assert np.isnan(traced[1])  # nothing can be raised under jit

    @pytest.mark.slow
    def test_second_derivatives_of_the_other_modes_are_right(self):
        """Along one direction, in forward mode under jit: those of the pair do not spoil them."""
        names = ["link2.length", "link2.joint_angle", "link3.joint_angle"]
        start = np.array([float(jm.get_parameter(self.arm, name)) for name in names])
        direction = np.array([0.3, -0.7, 0.6])

        def arm_at(step):
            values = start + step * direction
            return jm.set_parameters(self.arm, dict(zip(names, values, strict=True)))

        def rate(step):
            one = jnp.ones(())
            return jax.jvp(
                lambda s: jm.natural_frequencies(arm_at(s), NUM_MODES).omega, (step,), (one,)
            )[1]

        found = np.asarray(jax.jit(lambda step: jax.jvp(rate, (step,), (step + 1.0,))[1])(0.0))

        def tabulated(row):
            table = jm.sensitivities(
                arm_at(float(row[0])), NUM_MODES, addresses=names, repeated="mean"
            )
            return np.asarray(table.derivative) @ direction

        expected = differences(one_by_one(tabulated), np.zeros(1), [3e-4])[:, 0]
        others = [0, 3, 4, 5]
        largest = np.max(np.abs(expected[others]))
        assert np.max(np.abs(found - expected)[others]) <= HESSIAN_VS_FD * largest
        assert np.isnan(found[1:3]).all()

    @pytest.mark.slow
    def test_derivatives_of_the_shapes_are_refused(self):
        def tip(x):
            arm = jm.examples.three_link_industrial().with_posture(x)
            return jm.mode_shapes(arm, 3, stations=2).v[1, -1, -1]

        with pytest.raises(
            jm.RepeatedFrequencyError, match="derivatives of the shapes of modes 2, 3"
        ):
            jax.grad(tip)(jnp.deg2rad(jnp.array(DOUBLE_ROOT_DEG)))

    def test_sum_of_the_pair_is_smooth_and_its_gradient_exact(self):
        start = np.deg2rad(DOUBLE_ROOT_DEG)

        def pair(x):
            arm = jm.examples.three_link_industrial().with_posture(x)
            return jnp.sum(jm.natural_frequencies(arm, NUM_MODES).omega[1:3])

        found = np.asarray(jax.grad(pair)(start))
        expected = differences(one_by_one(pair), start, [1e-3, 1e-3])
        assert np.allclose(found, expected, rtol=AD_VS_FD)

    def test_directional_derivatives_against_one_sided_differences(self):
        names = ["link2.joint_angle", "link3.joint_angle"]
        omega = of_cells(self.arm, names, 4)
        rng = np.random.default_rng(4)
        h = 2e-4
        weights = np.array([-25, 48, -36, 16, -3]) / (12 * h)
        directions = rng.normal(size=(2, 2))
        steps = h * np.arange(5)[:, None, None] * directions
        values = omega((np.deg2rad(DOUBLE_ROOT_DEG) + steps).reshape(-1, 2))
        all_expected = np.tensordot(weights, values.reshape(5, 2, 4), axes=1)
        for d, expected in zip(directions, all_expected, strict=True):
            direction = dict(zip(names, d, strict=True))
            found = np.asarray(jm.directional_derivatives(self.arm, direction, 4))
            assert np.max(np.abs(found - expected)) <= ONE_SIDED * np.max(np.abs(expected[1:3]))

    def test_mean_is_the_mean_of_the_directional_derivatives(self):
        direction = {"link1.length": 1.0, "link3.tip_mass": -2.0}
        table = jm.sensitivities(self.arm, 3, addresses=list(direction), repeated="mean")
        pair = jm.directional_derivatives(self.arm, direction, 3)[1:3]
        expected = np.asarray(table.derivative)[1] @ np.array([1.0, -2.0])
        assert float(np.mean(pair)) == pytest.approx(expected, rel=1e-10)
        assert float(pair[1] - pair[0]) > 0


@pytest.mark.slow
def test_nearly_equal_frequencies_have_accurate_derivatives_of_their_own():
    """P35: an avoided crossing. Each derivative exists, and says so at a small tolerance."""
    problem = problems()["P35"]
    table = jm.sensitivities(problem.arm, problem.num_modes, theory=problem.model)
    assert np.all(np.asarray(table.individual))
    wide = jm.sensitivities(
        problem.arm,
        problem.num_modes,
        theory=problem.model,
        cluster_tolerance=1e-4,
        repeated="mean",
    )
    assert not np.all(np.asarray(wide.individual))
