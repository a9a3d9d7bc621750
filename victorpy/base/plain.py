"""Plain data as JSON and back, checked against types. Run directories contain only such data and never code."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any, TypeVar

from msgspec import Meta, ValidationError, convert, to_builtins

from victorpy.errors import DataError

T = TypeVar("T")
Inside = Annotated[str, Meta(pattern=r"^(?![/\\]|\w:)(?!(.*[/\\])?\.\.([/\\]|$))")]
"""A relative path that does not lead out of its directory."""


def to_json(value: object) -> bytes:
    """Return a value that consists of dataclasses, named tuples, enums, paths and builtin values as a line of JSON."""
    return json.dumps(to_builtins(value, enc_hook=os.fspath)).encode()


def from_json(content: bytes, type: type[T], name: object) -> T:
    """Return the value that `to_json` converted to JSON. Raises DataError with `name` if a part has the wrong type.

    >>> from_json(to_json(("tea", 1)), tuple[str, int], "a")
    ('tea', 1)
    >>> from_json(b'["tea", "1"]', tuple[str, int], "a.log")
    Traceback (most recent call last):
    victorpy.errors.DataError: a.log: damaged: Expected `int`, got `str` - at `$[1]`
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: damaged: {error}") from error
    return checked(value, type, name)


def checked(value: Any, type: type[T], name: object) -> T:
    """Convert a value to a type. Raises DataError with `name` if a part has the wrong type or is missing.

    >>> checked("../tea", Inside, "a.json")
    Traceback (most recent call last):
    victorpy.errors.DataError: a.json: damaged: Expected `str` matching regex ...
    """
    try:
        return convert(value, type, dec_hook=lambda wanted, inner: wanted(inner))
    except ValidationError as error:
        raise DataError(f"{name}: damaged: {error}") from error
