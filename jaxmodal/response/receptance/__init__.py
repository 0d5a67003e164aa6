"""Receptances of arms on springs, member by member from tip to base, of many postures by sums."""
