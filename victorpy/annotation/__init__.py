"""The terminal annotation tool: a plain session, its journal on disk, and the screen that shows it."""

ORDERS = ("name", "uncertainty", "progress")
"""How a directory's pages can be ordered."""
