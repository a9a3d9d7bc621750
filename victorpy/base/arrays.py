"""Read the arrays of a model. Models may come from strangers, so type, size and values are checked before use."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from victorpy.base.digests import MOST_BYTES
from victorpy.base.files import read_bounded

LARGEST = 1e6
"""Largest absolute value of a weight. Larger weights may produce probabilities that are NaN."""

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def open_arrays(path: Path) -> io.BytesIO:
    """Read a file of a model, whose arrays `read_array` returns one by one."""
    return io.BytesIO(read_bounded(path, MOST_BYTES))


def read_array(file: io.BytesIO, what: str) -> npt.NDArray[Any]:
    """Read the next array of a file. Raises ValueError unless it is a plain array, no larger than the file."""
    start = file.tell()
    try:
        shape, _, dtype = _HEADERS[npy.read_magic(file)](file)
    except Exception as error:  # numpy evaluates the header as a Python literal, which raises many kinds of errors
        raise ValueError(f"its {what} are not numpy arrays") from error
    rest = file.getbuffer().nbytes - file.tell()
    is_plain = dtype.kind in "iufU" and dtype.names is None and dtype.itemsize > 0
    if not is_plain or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > rest:
        raise ValueError(f"its {what} are not arrays of numbers, or are larger than their file")
    file.seek(start)
    array: npt.NDArray[Any] = np.load(file, allow_pickle=False)
    return array


def checked(
    array: npt.NDArray[Any], dtype: npt.DTypeLike, what: str, lowest: float = -LARGEST, highest: float = LARGEST
) -> npt.NDArray[Any]:
    """Return an array with this type.

    Raises ValueError if it contains another kind of number or a value is out of range.
    """
    wanted = np.dtype(dtype)
    kinds = "f" if wanted.kind == "f" else "iu"
    if array.dtype.kind not in kinds:
        raise ValueError(f"its {what} have the type {array.dtype}, not {wanted}")
    values = array.astype(np.float64) if kinds == "f" else array  # in 16 bits, the limit itself would be infinite
    if not ((values >= lowest) & (values <= highest)).all():  # false for NaN
        raise ValueError(f"its {what} are not all numbers from {lowest:g} to {highest:g}")
    return np.asarray(array, dtype=wanted, order="C")
