"""Foundations that know nothing about pages: registries, parameters, files, text formats, Unicode."""
