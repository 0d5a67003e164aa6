"""Sweeps run chunk by chunk, in memory or into a store on disk, and the datasets they yield."""
