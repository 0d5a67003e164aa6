"""The search for the best design, the conditions that it meets, and what was found."""
