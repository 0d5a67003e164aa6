"""Damped modes: complex roots of the characteristic determinant, by continuation, certified by contour counts."""
