"""Arms in space under forces at rest: their equilibrium, and counts of critical factors and of frequencies."""
