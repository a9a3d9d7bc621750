"""Many pages: where they come from, what becomes of each, and where they go."""
