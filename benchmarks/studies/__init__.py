"""Sweeps and optimisations with a purpose: galleries, a front, pictures of real arms."""
