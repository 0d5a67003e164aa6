"""Analysis of finished sweeps: arms of cells, branches, double roots, independent verification."""
