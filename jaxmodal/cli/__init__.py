"""The command ``jaxmodal``."""
