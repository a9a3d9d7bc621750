# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""The native twin of features that only pick or divide columns, and of the codes of the CRF."""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport floor, isfinite
from libc.stdint cimport int64_t, uint8_t
from libcpp.vector cimport vector

import numpy as np


cdef struct View:
    const char *data
    Py_ssize_t rows         # -1 for a column without rows
    Py_ssize_t row_stride, stride
    char kind               # d: double, l: int64_t, B: uint8_t, f: one number for all blocks
    double number


def fill(
    double[:, ::1] table, list columns, const int64_t[:, ::1] plan, const double[::1] least
):
    """Fill rows of a table of features. Twin of the functions of these features.

    Each row of the plan has the row of the table, a column and a row of it, and a second column and row to divide by.
    A row of -1 is a column that has no rows, and a column of -1 means that nothing is divided.
    """
    cdef Py_ssize_t count = table.shape[1], entry, block
    cdef vector[double] divisor
    cdef vector[View] views
    cdef double *values
    if not count:
        return
    divisor.resize(count)
    views.resize(len(columns))
    for entry in range(len(columns)):  # the list keeps the arrays alive
        view_of(columns[entry], count, &views[entry])
    for entry in range(plan.shape[0]):
        if not (0 <= plan[entry, 0] < table.shape[0] and 0 <= plan[entry, 1] < len(columns) and plan[entry, 3] < len(columns)):
            raise IndexError("the plan does not fit the table")
        values = &table[plan[entry, 0], 0]
        read(&views[plan[entry, 1]], plan[entry, 2], values, count)
        if plan[entry, 3] >= 0:
            read(&views[plan[entry, 3]], plan[entry, 4], divisor.data(), count)
            for block in range(count):
                values[block] /= divisor[block] if divisor[block] > least[entry] else least[entry]


def fill_tags(
    double[:, ::1] table, const int64_t[::1] rows, const int64_t[::1] methods, list tags,
    dict tag_numbers, around, tuple passed, const int64_t[::1] tag_of_element,
):
    """Fill the rows of features that depend on tags. Twin of `within`, `passed` and `elements_count` of `Columns`.

    Returns the rows that are left to Python, because the page has too many tags.
    """
    cdef Py_ssize_t count = table.shape[1], known = len(tag_numbers), entry, block, i
    cdef const uint8_t[:, ::1] is_around = around.view(np.uint8)
    cdef const int64_t[::1] passed_tags = passed[0], passed_owners = passed[1]
    cdef vector[char] is_wanted
    cdef vector[int64_t] numbers
    cdef int64_t number
    cdef double total
    cdef double *values
    cdef list left = []
    for entry in range(rows.shape[0] if count else 0):
        if not 0 <= rows[entry] < table.shape[0]:
            raise IndexError("the plan does not fit the table")
        values = &table[rows[entry], 0]
        numbers.clear()
        for tag in tags[entry]:
            value = tag_numbers.get(tag)
            if value is not None:
                numbers.push_back(value)
        for block in range(count):
            values[block] = 0
        if methods[entry] == 0:
            for number in numbers:
                if number >= is_around.shape[0]:
                    left.append(rows[entry])
                    break
                for block in range(count):
                    if is_around[number, block]:
                        values[block] = 1
            continue
        is_wanted.assign(known + 1, 0)
        for number in numbers:
            is_wanted[number] = 1
        if methods[entry] == 1:
            for i in range(passed_tags.shape[0]):
                if passed_tags[i] >= 0 and is_wanted[passed_tags[i]]:
                    values[passed_owners[i]] += 1
        else:
            total = 0
            for i in range(tag_of_element.shape[0]):
                total += is_wanted[tag_of_element[i]]
            for block in range(count):
                values[block] = total
    return left


cdef int view_of(object column, Py_ssize_t count, View *view) except -1:
    """Find out where the values of a column are."""
    cdef Py_buffer buffer
    view.rows = -1
    view.kind = b"f"
    if isinstance(column, float):
        view.number = column
        return 0
    PyObject_GetBuffer(column, &buffer, PyBUF_FORMAT | PyBUF_STRIDES)
    try:
        if not 1 <= buffer.ndim <= 2 or buffer.shape[buffer.ndim - 1] != count:
            raise ValueError("a column does not have one value per block")
        view.data, view.stride = <const char *>buffer.buf, buffer.strides[buffer.ndim - 1]
        if buffer.ndim == 2:
            view.rows, view.row_stride = buffer.shape[0], buffer.strides[0]
        if buffer.format == b"d":
            view.kind = b"d"
        elif (buffer.format == b"l" or buffer.format == b"q") and buffer.itemsize == sizeof(int64_t):
            view.kind = b"l"
        elif buffer.format == b"?" or buffer.format == b"B":
            view.kind = b"B"
        else:
            raise ValueError("a column has another type")
    finally:
        PyBuffer_Release(&buffer)
    return 0


cdef int read(View *view, int64_t row, double *values, Py_ssize_t count) except -1:
    """Copy a column, or a row of it."""
    cdef Py_ssize_t block
    cdef const char *data = view.data
    if view.kind == b"f":
        for block in range(count):
            values[block] = view.number
        return 0
    if (row < 0) != (view.rows < 0) or row >= view.rows and row >= 0:
        raise ValueError("a column does not have one value per block")
    data += view.row_stride * row if row >= 0 else 0
    if view.kind == b"d":
        for block in range(count):
            values[block] = (<const double *>(data + block * view.stride))[0]
    elif view.kind == b"l":
        for block in range(count):
            values[block] = <double>(<const int64_t *>(data + block * view.stride))[0]
    else:
        for block in range(count):
            values[block] = (<const uint8_t *>(data + block * view.stride))[0]
    return 0


def codes(const double[:, ::1] table, const int64_t[::1] scales, const int64_t[::1] starts, const double[::1] edges):
    """Return the codes of features, or None if a value has no code. Twin of `Encoder.codes`.

    A feature has edges of bins, from its start to the next, or a scale, or neither of them.
    """
    cdef Py_ssize_t rows = table.shape[0], count = table.shape[1], row, block
    cdef int64_t code, edge
    cdef double value
    result = np.empty((rows, count), dtype=np.int64)
    cdef int64_t[:, ::1] numbers = result
    for row in range(rows):
        for block in range(count):
            value = table[row, block]
            if not isfinite(value):
                return None
            if starts[row] < starts[row + 1]:
                edge = starts[row]
                while edge < starts[row + 1] and edges[edge] <= value:
                    edge += 1
                code = edge - starts[row] - 1
                if code < 0:
                    code = 0
            elif scales[row]:
                value = floor(value * scales[row] + 1e-9)
                code = 0 if value < 0 else scales[row] - 1 if value > scales[row] - 1 else <int64_t>value
            else:
                if not 0 <= value < 9e15 or value != floor(value):
                    return None
                code = <int64_t>value
            numbers[row, block] = code
    return result
