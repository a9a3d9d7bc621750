"""The formats in which a cleaned page can be written."""

from victorpy.outputs.base import OUTPUTS, CleanPage, Output, Segment, find_output, output, segments

__all__ = ["OUTPUTS", "CleanPage", "Output", "Segment", "find_output", "output", "segments"]
