"""The source paper's tables recomputed and held against print."""
