"""Arms at rest: what loads they carry, how far they bend, and when they buckle."""
