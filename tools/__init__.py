"""Scripts that make what the repository ships: bundled models and pictures."""
