"""Arms in space: parts and files, determinant and count over six directions, modes, searches."""
