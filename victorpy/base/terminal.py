"""Safe output to terminals and logs: control characters in text from pages, files and models are shown as codes."""

from __future__ import annotations

from typing import Any, TextIO

from victorpy.errors import visible


class SafeStream:
    """Writes text with `visible` control characters to a stream.

    Carriage returns at the start and end of a text are kept, because progress bars begin and end with them.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        inner = text.strip("\r")
        before, _, after = text.partition(inner) if inner else (text, "", "")
        self._stream.write(before + visible(inner, keep_lines=True) + after)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
