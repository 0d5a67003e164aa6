"""When the estimate of a mode is good enough: its error depends on the nearest other mode."""

import numpy as np
import pytest

from jaxmodal.frequencies.root_search import Brackets


def brackets(estimate, half_width):
    """Isolated modes in brackets about their estimates."""
    estimate = np.array(estimate)
    zero = np.zeros_like(estimate)
    fields = dict.fromkeys(Brackets.__dataclass_fields__, zero)
    return Brackets(
        **fields
        | {
            "lower": estimate - half_width,
            "upper": estimate + half_width,
            "upper_count": zero + 1.0,
            "estimate": estimate,
        }
    )


NEAR = 10.0 * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("estimate", "good"),
    [
        ([10.0, 20.0, 30.0], [True, True, True]),
        ([10.0, NEAR, 30.0], [False, False, True]),
        ([10.0, 10.0, 30.0], [True, True, True]),  # a mode sought twice
        ([10.0, 10.0, NEAR], [False, False, False]),
        ([10.0, NEAR, NEAR], [False, False, False]),
        ([10.0, 10.0, 10.0, NEAR, NEAR, 30.0], [False] * 5 + [True]),
        ([NEAR, 10.0, 30.0], [False, False, True]),  # not in their order
        ([10.0, np.nan, 30.0], [False, False, False]),
    ],
)
def test_an_estimate_is_measured_by_the_nearest_other_mode(estimate, good):
    """The error of a chord is 1e-10/10/d: 1e-11/10 at a distance of 10, 1e-6 at 1e-5."""
    found = brackets(estimate, 1e-5).well_estimated(1e-8)
    assert found.tolist() == good
    alike = brackets(np.array(estimate)[:, None] * np.ones(2), 1e-5)  # two arms
    assert alike.well_estimated(1e-8).tolist() == [[x, x] for x in good]
