"""A count of what the recursion answers where sums do not."""

import pytest

from jaxmodal.response.receptance import posture_sums
from tests.response.sums import Counted


@pytest.fixture
def redone(monkeypatch):
    """How many entries the recursion answers after the sums."""
    counted = Counted(posture_sums.answers_at)
    monkeypatch.setattr(posture_sums, "answers_at", counted)
    return counted
