"""Runs on this machine: records are read, cleaned by guarded workers, and written to an output that can be resumed."""
