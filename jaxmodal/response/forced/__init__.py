"""Arms under forces: harmonic, random and in time, peaks, and sizes of responses inside optimisation."""
