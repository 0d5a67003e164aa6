"""What is read from a finished sweep: its arms again, branches, double roots, a check from outside."""
