"""What traced results say where they are asked for datasets and pictures: our words, not those of JAX."""

import jax
import pytest

import jaxmodal as jm

ARM = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.03)),))


def found(mass):
    arm = jm.set_parameters(ARM, {"payload.mass": mass})
    return jm.natural_frequencies(arm, 2, theory="rayleigh")


@pytest.mark.parametrize("asked", ["to_xarray", "to_dataframe", "plot"])
def test_values_that_are_not_known_yet(asked):
    def inside(mass):
        getattr(found(mass), asked)()

    with pytest.raises(
        TypeError, match=r"\(\): the values of this NaturalFrequencies are traced.*comes back"
    ):
        jax.eval_shape(inside, 2.0)


def test_what_comes_back_has_them():
    assert found(2.0).to_xarray().sizes["mode"] == 2
