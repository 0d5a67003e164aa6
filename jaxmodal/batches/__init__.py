"""Certified natural frequencies of many arms at once."""
