"""The formats in which a cleaned page can be written."""

from victorpy.outputs.base import OUTPUTS, Output, Segment, output, segments

__all__ = ["OUTPUTS", "Output", "Segment", "output", "segments"]
