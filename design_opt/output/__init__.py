"""Output of a result: plots and files."""
