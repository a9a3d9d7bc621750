"""Batch runs over many pages, on this machine or on Spark."""
