"""Pictures of sweeps. They need matplotlib, an optional dependency."""
