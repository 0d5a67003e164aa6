"""Checks of an optimum: random perturbations, and finer grids of postures."""
