"""Utilities that do not depend on pages: registries, parameters, files, text formats, Unicode."""
