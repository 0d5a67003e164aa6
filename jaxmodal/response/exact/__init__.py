"""Exact frequency response, with rigid supports, its derivatives, its results and export to other programs."""
