"""Compute many features of a page at once.

Most features only copy a row of a page's columns, or divide one row by another. `FeatureTable` detects these features
once, by calling their functions with a stand-in for the page that records which columns they read. The native core then
fills their rows with a single call per page. All other features are called for every page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from victorpy import native
from victorpy.columns import Columns, Floats
from victorpy.config import Config
from victorpy.features.base import Feature

_native = native.load("features")

Named = tuple[str, Feature]

_METHODS = frozenset(["within", "passed", "begins_with", "elements_count"])
_TAG_METHODS = ("within", "passed", "elements_count")


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """The data that a feature reads: a column or a row of it, possibly divided by another one."""

    path: str
    argument: Any = None  # argument if the column is a method
    row: int | str | None = None
    least: float = -np.inf  # minimum value of a divisor
    divisor: _Read | None = None

    def __getattr__(self, name: str) -> _Read:
        if self.argument is not None or name.startswith("_"):
            raise AttributeError(name)
        return _Read(f"{self.path}.{name}")

    def __getitem__(self, row: int | str) -> _Read:
        if self.row is not None or not isinstance(row, (int, str)):
            raise TypeError("only rows can be picked")
        return replace(self, row=row)

    def __truediv__(self, divisor: _Read) -> _Read:
        if self.divisor is not None or not isinstance(divisor, _Read) or divisor.divisor is not None:
            raise TypeError("only columns can be divided")
        return replace(self, divisor=divisor)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> _Read:
        if ufunc is not np.maximum or inputs[0] is not self or not isinstance(inputs[1], int):
            raise TypeError("only the maximum of a column and a number can be recorded")
        return replace(self, least=float(inputs[1]))

    def __eq__(self, other: object) -> bool:
        raise TypeError("columns cannot be compared while they are recorded")

    __hash__ = None  # type: ignore[assignment]
    __bool__ = __len__ = __iter__ = __array__ = None

    def getter(self) -> Callable[[Columns], Any]:
        """Return a function that reads the column of a page."""
        get = attrgetter(self.path) if self.argument is None else methodcaller(self.path, self.argument)
        return partial(_entry, get, self.row) if isinstance(self.row, str) else get


def _entry(get: Callable[[Columns], Any], key: str, page: Columns) -> Any:
    return get(page)[key]


class _Recorder:
    """A stand-in for a page that records what a feature reads."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def tags_of(self, name: str) -> frozenset[str]:
        return Columns.tags_of(self, name)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            return partial(_Read, name)
        if name != "evidence" and not isinstance(getattr(Columns, name), cached_property):
            raise AttributeError(name)
        return _Read(name)


def _record(feature: Feature, name: str, config: Config) -> _Read | None:
    """Return the data that one of victorpy's features reads, or None if it does more than copy or divide."""
    if not feature.function.__module__.startswith(("victorpy.features.", "operator")):
        return None
    try:
        read = feature.column(_Recorder(config), name)  # type: ignore[arg-type]
    except (AttributeError, TypeError, ValueError):
        return None
    return read if isinstance(read, _Read) and read.least == -np.inf else None


class FeatureTable:
    """Computes features, one row per feature and one column per block."""

    def __init__(self, features: Sequence[Named], config: Config) -> None:
        self._features = features
        reads = [_record(feature, name, config) for name, feature in features]
        self.called = [row for row, read in enumerate(reads) if read is None]
        """The rows of features that have to be called for every page."""
        self._getters: list[Callable[[Columns], Any]] = []
        numbers: dict[Any, int] = {}

        def source(read: _Read | None) -> tuple[int, int]:
            """Return the number of the column that is read, and its row."""
            if read is None:
                return -1, 0
            key = (read.path, read.argument, read.row if isinstance(read.row, str) else None)
            if key not in numbers:
                numbers[key] = len(numbers)
                self._getters.append(read.getter())
            return numbers[key], read.row if isinstance(read.row, int) else -1

        picked = [(row, read) for row, read in enumerate(reads) if read is not None]
        # Collect features that depend only on tags: rows of the table, methods and tags.
        of_tags = [(row, read) for row, read in picked if read.path in _TAG_METHODS and read.divisor is None]
        picked = [pair for pair in picked if pair not in of_tags]
        self._tag_rows = np.array([row for row, _ in of_tags], dtype=np.int64)
        self._tag_methods = np.array([_TAG_METHODS.index(read.path) for _, read in of_tags], dtype=np.int64)
        recorder = _Recorder(config)
        self._tags = [
            tuple(sorted(recorder.tags_of(read.argument) if read.path == "within" else read.argument))
            for _, read in of_tags
        ]
        plan = [(row, *source(read), *source(read.divisor)) for row, read in picked]
        self._plan = np.array(plan, dtype=np.int64).reshape(-1, 5)
        self._least = np.array([read.divisor.least if read.divisor is not None else 0.0 for _, read in picked])

    def read(self, page: Columns) -> Floats:
        """Return the table of a page with all rows except those in `called`."""
        table = np.empty((len(self._features), page.count))
        if _native:
            _native.fill(table, [get(page) for get in self._getters], self._plan, self._least)
            tags = page._tag_numbers, page._tags_around, page._passed_tags, page._tag_of_element
            for row in _native.fill_tags(table, self._tag_rows, self._tag_methods, self._tags, *tags):
                name, feature = self._features[row]
                table[row] = feature.column(page, name)
        return table

    def compute(self, page: Columns) -> Floats:
        table = self.read(page)
        with np.errstate(all="ignore"):
            for row in self.called if _native else range(len(table)):
                name, feature = self._features[row]
                table[row] = feature.column(page, name)
        return table
