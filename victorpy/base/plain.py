"""Plain data as JSON and back. Run directories contain nothing else, so reading one never runs code."""

from __future__ import annotations

import json
import os
from typing import TypeVar

from msgspec import convert, to_builtins

from victorpy.errors import DataError

T = TypeVar("T")


def to_json(value: object) -> bytes:
    """Return a value that consists of dataclasses, named tuples, enums, paths and builtin values as a line of JSON."""
    return json.dumps(to_builtins(value, enc_hook=os.fspath)).encode()


def from_json(content: bytes, type: type[T], name: object) -> T:
    """Return the value of which `to_json` has made JSON. Raises DataError with `name` if a part has the wrong type.

    >>> from_json(to_json(("tea", 1)), tuple[str, int], "a")
    ('tea', 1)
    >>> from_json(b'["tea", "1"]', tuple[str, int], "a.log")
    Traceback (most recent call last):
    victorpy.errors.DataError: a.log: damaged: Expected `int`, got `str` - at `$[1]`
    """
    try:
        return convert(json.loads(content), type, dec_hook=lambda wanted, value: wanted(value))
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{name}: damaged: {error}") from error
