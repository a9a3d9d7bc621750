"""What the parts of a run's output are: folders of files, lines of JSON, tables, archives."""

from victorpy.batch.sinks.base import SINKS, PartWriter, Sink, sink_name

__all__ = ["SINKS", "PartWriter", "Sink", "sink_name"]
