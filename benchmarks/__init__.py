"""Benchmarks of the batch solver against rivals written as their best users would write them."""
