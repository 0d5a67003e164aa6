"""The commands ``jaxmodal sweep`` and ``jaxmodal joint-study``."""
