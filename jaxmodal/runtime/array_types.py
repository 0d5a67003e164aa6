"""Names of NumPy arrays by the kind of their entries."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
