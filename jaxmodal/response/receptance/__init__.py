"""Receptances of arms, member by member from tip to base; for many postures by trigonometric sums."""
