"""Output of a result: texts, plots, files."""
