"""The terminal annotation tool: a plain session, its journal on disk, and the screen that shows it."""
