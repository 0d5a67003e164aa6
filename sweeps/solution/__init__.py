"""What a sweep asks of the solver, and the quantities that it makes of the answer."""
