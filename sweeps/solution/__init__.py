"""Questions of a sweep to the solver, and the quantities made of the answers."""
