"""Sweeps and optimisations with a purpose, and the checks of optima: galleries, a front, pictures of real arms."""
