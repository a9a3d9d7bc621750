"""Features of style attributes, which include the rules of style sheets if the config sets `style-sheets`."""

from __future__ import annotations

import re

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.features.base import feature

_VALUES = {
    "hidden": re.compile(r"display:none|visibility:(?:hidden|collapse)"),
    "floated": re.compile(r"float:(?:left|right)"),
    "fixed": re.compile(r"position:(?:fixed|sticky)"),
    "absolute": re.compile(r"position:absolute"),
}
_SIZE = re.compile(r"font-size:([\d.]*)([a-z%-]+)")
_UNITS = {"px": 1 / 16, "pt": 1 / 12, "rem": 1.0, "vw": 1.0}
_RELATIVE_UNITS = {"em": 1.0, "%": 0.01, "ex": 0.5}
_WORDS = {"xx-small": 0.6, "x-small": 0.75, "small": 0.89, "medium": 1, "large": 1.2, "x-large": 1.5, "xx-large": 2}
_TAGS = {"h1": 2.0, "h2": 1.5, "h3": 1.17, "h5": 0.83, "h6": 0.67, "small": 0.83, "big": 1.2}


@feature("style.{hidden,floated,fixed,absolute}")
def styled(page: Columns, kind: str) -> Column:
    """Number of elements around the block whose style hides, floats or positions them."""
    is_styled = [bool(_VALUES[kind].search(style)) for style in page.styles]
    return page.inside(np.flatnonzero(is_styled))


@feature("style.font-size")
def font_size(page: Columns) -> Column:
    """Font size of the block, relative to the most common font size of the page."""
    sizes: list[float] = []
    for tag, parent, style in zip(page.elements.tag, page.elements.parent, page.styles, strict=True):
        inherited = sizes[parent] if parent >= 0 else 1.0
        size = inherited * _TAGS.get(tag, 1.0)
        written = _SIZE.findall(style)
        if written:
            number, unit = written[-1]
            if number and unit in _RELATIVE_UNITS:
                size = inherited * float(number.strip(".") or 0) * _RELATIVE_UNITS[unit]
            elif number and unit in _UNITS:
                size = float(number.strip(".") or 0) * _UNITS[unit]
            else:
                size = _WORDS.get(unit, inherited)
        sizes.append(min(max(size, 0.1), 10.0))
    of_block = np.round(np.array(sizes)[page.element], 2)
    if not page.count:
        return of_block
    distinct, number = np.unique(of_block, return_inverse=True)
    return of_block / distinct[np.bincount(number, page.lengths).argmax()]
