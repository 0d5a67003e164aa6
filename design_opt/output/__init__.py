"""What is left of a result: texts, pictures, files."""
