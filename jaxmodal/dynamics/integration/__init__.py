"""Motions over time: the equations as a system, integration, simulation, datasets."""
