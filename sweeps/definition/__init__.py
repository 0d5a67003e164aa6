"""Definition of sweeps: an arm, axes, outputs; reading from files, and comparison."""
