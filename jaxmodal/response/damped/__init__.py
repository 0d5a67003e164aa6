"""Damped modes: complex roots of the characteristic determinant, followed, counted and differentiated."""
