"""Arms in space: the arm itself, construction from planar arms or joint frames, and plausibility checks."""
