"""The command-line interface ``jaxmodal``."""
