"""Pictures of modes and of resonance maps. They need matplotlib, an optional dependency."""
