"""Arms at rest: how far they bend under unit forces, and whether their forces at rest buckle them."""
