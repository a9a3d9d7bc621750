"""The annotation tool for terminals: a session, its journal on disk, and the screens that show it."""

ORDERS = ("name", "uncertainty", "progress")  # orders of the pages in a directory
