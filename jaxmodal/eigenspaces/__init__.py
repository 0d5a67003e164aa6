"""What belongs to a frequency that is known: null space, mass, energies, derivatives, clusters."""
