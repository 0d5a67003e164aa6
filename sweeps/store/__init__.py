"""Runs of sweeps, chunk by chunk, in memory or into a store on disk, and the resulting datasets."""
