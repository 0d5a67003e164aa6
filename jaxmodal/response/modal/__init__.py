"""Modal sums: superposition, truncation error, number of modes needed, state space."""
