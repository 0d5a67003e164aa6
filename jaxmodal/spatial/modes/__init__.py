"""Mode shapes, energies and derivatives of the modes of an arm in space."""
