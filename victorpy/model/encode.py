"""Encode features as small integers, one row per feature and one column per block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from victorpy import native
from victorpy.columns import Column, Columns
from victorpy.config import Config
from victorpy.errors import DataError
from victorpy.features import Feature, check_feature, check_features, load_modules
from victorpy.features.table import FeatureTable

_native = native.load("features")

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Encoder:
    """Converts a feature to codes 0, 1, 2, ... that represent its values."""

    name: str
    feature: Feature
    bins: tuple[str, ...] = ()
    scale: int = 0

    def raw(self, page: Columns) -> Column:
        """Compute the feature. Raises DataError if a value is not finite, because NaN would silently spoil a model."""
        try:
            column = np.asarray(self.feature.column(page, self.name))
        except Exception as error:  # a user's feature may raise any exception
            raise DataError(f"feature {self.name!r} failed: {type(error).__name__}: {error}") from error
        if column.shape != (page.count,):
            raise DataError(f"feature {self.name!r} returned {column.shape} values for {page.count} blocks")
        if column.dtype.kind not in "biuf":
            raise DataError(f"feature {self.name!r} returned {column.dtype.name}, not numbers")
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            block = int(np.flatnonzero(~np.isfinite(column))[0])
            raise DataError(
                f"feature {self.name!r} is {column[block]} at block {block}: {page.blocks[block].text[:60]!r}"
            )
        return column

    def codes(self, page: Columns) -> Codes:
        column = self.raw(page)
        if column.dtype.kind == "b" and not self.bins and not self.scale:
            return column.view(np.uint8)
        if self.bins:
            # Choose the bin with the largest edge that is not greater than the value, or else the first bin.
            return np.maximum(np.searchsorted(_edges(self.bins), column, side="right") - 1, 0)
        if self.scale:
            return np.clip(np.floor(column * self.scale + 1e-9).astype(np.int64), 0, self.scale - 1)
        codes = column.astype(np.int64)
        if column.dtype.kind == "f" and (codes != column).any():
            raise DataError(
                f"feature {self.name!r} has fractions: "
                f"set feature-{self.name}-values (bins) or feature-{self.name}-scale"
            )
        if codes.min(initial=0) < 0:
            raise DataError(f"feature {self.name!r} is negative: set feature-{self.name}-values (bins)")
        return codes

    def value(self, code: int) -> str:
        """Return the value that a code represents."""
        return self.bins[min(code, len(self.bins) - 1)] if self.bins else str(code)


@lru_cache(maxsize=1024)
def _edges(bins: tuple[str, ...]) -> npt.NDArray[np.float64]:
    return np.array([float(edge) for edge in bins])


class Encoders(list[Encoder]):
    """The encoders of a config."""

    def __init__(self, encoders: Iterable[Encoder], config: Config) -> None:
        super().__init__(encoders)
        self._table = FeatureTable([(encoder.name, encoder.feature) for encoder in self], config)
        self._scales = np.array([encoder.scale for encoder in self], dtype=np.int64)
        self._starts = np.cumsum([0, *(len(encoder.bins) for encoder in self)])
        self._edges = np.array([float(edge) for encoder in self for edge in encoder.bins])

    def codes(self, page: Columns) -> Codes | None:
        """Encode the features of a page with the native core. Returns None if that is not possible."""
        try:
            table = self._table.read(page)
            for row in self._table.called:
                table[row] = self[row].raw(page)
        except (AttributeError, TypeError, ValueError):
            return None
        codes: Codes | None = _native.codes(table, self._scales, self._starts, self._edges)
        return codes


def make_encoders(config: Config) -> Encoders:
    """Return an encoder for each feature of a config, with its bins and scale."""
    load_modules(config)
    check_features(config)
    bins, scales = config.family("feature-", "-values"), config.family("feature-", "-scale")
    encoders = []
    for name in config.features:
        scale = int(scales[name][0]) if scales.get(name) else 0
        encoders.append(Encoder(name, check_feature(config, name, "crf-features"), bins.get(name, ()), scale))
    return Encoders(encoders, config)


def encode(page: Columns, encoders: list[Encoder]) -> Codes:
    """Compute and encode the features of a page, one row per feature and one column per block."""
    if not page.count or not encoders:
        return np.zeros((len(encoders), page.count), dtype=np.int64)
    with np.errstate(all="ignore"):  # raw() reports values that are not finite
        native_codes = encoders.codes(page) if _native and isinstance(encoders, Encoders) else None
        if native_codes is not None:
            return native_codes
        codes = np.empty((len(encoders), page.count), dtype=np.int64)
        for row, encoder in zip(codes, encoders, strict=True):
            row[:] = encoder.codes(page)
        return codes


def show_features(codes: Codes, encoders: list[Encoder]) -> tuple[dict[str, str], ...]:
    """Return each block's feature values by name, decoded from their codes."""
    return tuple(
        {encoder.name: encoder.value(code) for encoder, code in zip(encoders, block, strict=True)}
        for block in codes.T.tolist()
    )
