"""Arms in space: parts and files, determinant and mode count over six directions, mode shapes, searches."""
