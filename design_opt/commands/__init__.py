"""The command ``jaxmodal optimise``."""
