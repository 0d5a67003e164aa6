"""Properties of modes at known frequencies: null space, mass, energies, derivatives, clusters."""
