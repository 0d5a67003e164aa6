"""The exact frequency response, rigid supports in it, its derivatives, its results and what other programs read."""
