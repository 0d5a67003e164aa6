"""Certified natural frequencies of one arm: search, count, certificate."""
