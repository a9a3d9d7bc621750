"""The kinds of files that hold many pages, found by how their names end."""

from victorpy.batch.sources.base import SOURCES, ReadOptions, Source, source, source_of

__all__ = ["SOURCES", "ReadOptions", "Source", "source", "source_of"]
