"""Arms in space: their parts, files and addresses; determinant and count over six directions, in NumPy."""
