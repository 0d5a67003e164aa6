"""What tests of written equations share: all quantities, texts in files, results compared."""

import numpy as np

from jaxmodal.symbolic import QUANTITIES

EVERYTHING = list(QUANTITIES)


def written_to(folder, texts):
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def assert_same(found, expected, tolerance=1e-14):
    assert set(found) == set(expected)  # jax.jit sorts by name
    for name, value in expected.items():
        scale = max(np.abs(value).max(), 1e-300)
        assert np.abs(np.asarray(found[name]) - value).max() <= tolerance * scale, name
