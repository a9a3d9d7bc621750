"""Encode features as small whole numbers: one row per feature, one column per block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from victorpy.columns import Column, Columns
from victorpy.config import Config
from victorpy.errors import DataError
from victorpy.features import Feature, check_features, find_feature, load_modules

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Encoder:
    """Turns one feature's column into codes 0, 1, 2, ..., each standing for a value."""

    name: str
    feature: Feature
    bins: tuple[str, ...] = ()
    scale: int = 0

    def raw(self, page: Columns) -> Column:
        """Compute the feature. Raises if it is not finite: NaN would silently spoil a model."""
        try:
            column = np.asarray(self.feature.column(page, self.name))
        except Exception as error:  # whatever a user's own feature may raise
            raise DataError(f"feature {self.name!r} failed: {type(error).__name__}: {error}") from error
        if column.shape != (page.count,):
            raise DataError(f"feature {self.name!r} gave {column.shape} values for {page.count} blocks")
        if column.dtype.kind not in "biuf":
            raise DataError(f"feature {self.name!r} gave no numbers but {column.dtype.name}")
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            block = int(np.flatnonzero(~np.isfinite(column))[0])
            raise DataError(
                f"feature {self.name!r} is {column[block]} at block {block}: {page.blocks[block].text[:60]!r}"
            )
        return column

    def codes(self, page: Columns) -> Codes:
        """Compute and encode the feature."""
        column = self.raw(page)
        if self.bins:
            # The largest value less than or equal to the number; below all of them, the smallest.
            return np.maximum(np.searchsorted(_edges(self.bins), column, side="right") - 1, 0)
        if self.scale:
            return np.clip(np.floor(column * self.scale + 1e-9).astype(np.int64), 0, self.scale - 1)
        codes = column.astype(np.int64)
        if column.dtype.kind == "b":
            return codes
        if column.dtype.kind == "f" and (codes != column).any():
            raise DataError(
                f"feature {self.name!r} has fractions: "
                f"set feature-{self.name}-values (bins) or feature-{self.name}-scale"
            )
        if codes.min(initial=0) < 0:
            raise DataError(f"feature {self.name!r} is negative: set feature-{self.name}-values (bins)")
        return codes

    def value(self, code: int) -> str:
        """Return the value that a code stands for."""
        return self.bins[min(code, len(self.bins) - 1)] if self.bins else str(code)


@lru_cache(maxsize=1024)
def _edges(bins: tuple[str, ...]) -> npt.NDArray[np.float64]:
    return np.array([float(edge) for edge in bins])


def make_encoders(config: Config) -> list[Encoder]:
    """Return the features that a config asks for, with their bins and scales."""
    load_modules(config)
    check_features(config)
    bins, scales = config.family("feature-", "-values"), config.family("feature-", "-scale")
    encoders = []
    for name in config.features:
        feature = find_feature(name)
        assert feature is not None  # guaranteed by check_features
        scale = int(scales[name][0]) if scales.get(name) else 0
        encoders.append(Encoder(name, feature, bins.get(name, ()), scale))
    return encoders


def encode(page: Columns, encoders: list[Encoder]) -> Codes:
    """Compute the table of a page's features: one row per feature, one column per block."""
    if not page.count or not encoders:
        return np.zeros((len(encoders), page.count), dtype=np.int64)
    with np.errstate(all="ignore"):  # raw() reports values that are not finite
        return np.stack([encoder.codes(page) for encoder in encoders])


def show_features(codes: Codes, encoders: list[Encoder]) -> tuple[dict[str, str], ...]:
    """Return each block's features by name, as the values that their codes stand for."""
    return tuple(
        {encoder.name: encoder.value(code) for encoder, code in zip(encoders, block, strict=True)}
        for block in codes.T.tolist()
    )
