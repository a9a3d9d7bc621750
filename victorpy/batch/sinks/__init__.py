"""Kinds of output of a run: folders of files, JSON lines, tables, archives."""

from victorpy.batch.sinks.base import SINKS, Sink, sink_name

__all__ = ["SINKS", "Sink", "sink_name"]
