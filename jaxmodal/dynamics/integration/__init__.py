"""Integration in time: first-order system, integration methods, simulation, datasets."""
