# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False
# distutils: language = c++
"""The native twin of the checks in page/parse.py that look for rare trouble in the bytes of a page."""

from libc.string cimport memchr, strncasecmp, strncmp

cdef extern from "<ctype.h>" nogil:
    int isalnum(int code)


def suspicions(bytes page, Py_ssize_t many_values, Py_ssize_t stretch):
    """Return whether a page may have a flood of attributes, script ends in strings, and references to C1 controls.

    False is certain. True means that the slower check in Python has to decide.
    """
    cdef const char *data = page
    cdef Py_ssize_t size = len(page), i, values = 0, longest = 0
    cdef bint has_script_end = False, has_reference = False
    cdef const char *found
    for i in range(size):
        values += data[i] == b"="
    if values > many_values:
        values = values_outside_scripts(data, data + size)
    i = 0
    while i + stretch <= size and longest < stretch:  # is there a ">" in every stretch of this length?
        found = last_in(data + i, b">", stretch)
        if found == NULL:
            found = end_of_script(data, i, size)
            if found == NULL:
                longest = stretch
                break
        i = found - data + 1
    found = data
    while not has_script_end:
        found = <const char *>memchr(found, b"<", data + size - found)
        if found == NULL or data + size - found < 9:
            break
        found += 1
        if found[0] == b"/" and strncasecmp(found + 1, b"script", 6) == 0:
            has_script_end = in_string(found + 7, data + size)
    found = data
    while not has_reference:
        found = <const char *>memchr(found, b"&", data + size - found)
        if found == NULL or data + size - found < 6:
            break
        has_reference = found[1] == b"#" and found[2] == b"1" and b"2" <= found[3] <= b"5" and found[5] == b";"
        found += 1
    return values > many_values or longest >= stretch, has_script_end, has_reference


def rare_tags(bytes page):
    """Return whether a page may have formulas, listings, embedded players and a base address."""
    cdef const char *stop = <const char *>page + len(page)
    cdef const char *tag = page
    cdef bint formulas = False, listings = False, players = False, base = False
    cdef int first
    while True:
        tag = <const char *>memchr(tag, b"<", stop - tag)
        if tag == NULL:
            break
        tag += 1
        if tag == stop:
            break
        first = tag[0] | 32  # in lower case
        if first == b"m":
            formulas = formulas or is_tag(tag, stop, b"math", 4)
        elif first == b"p":
            listings = listings or is_tag(tag, stop, b"pre", 3)
        elif first == b"c":
            listings = listings or is_tag(tag, stop, b"code", 4)
        elif first == b"v":
            players = players or is_tag(tag, stop, b"video", 5)
        elif first == b"a":
            players = players or is_tag(tag, stop, b"audio", 5)
        elif first == b"b":
            base = base or is_tag(tag, stop, b"base", 4)
        elif first == b"i":
            players = players or is_tag(tag, stop, b"iframe", 6)
            formulas = formulas or (is_tag(tag, stop, b"img", 3) and names_tex(tag + 3, stop, 200))
        elif first == b"s":
            if not formulas and (is_tag(tag, stop, b"span", 4) or is_tag(tag, stop, b"script", 6)):
                formulas = names_tex(tag + 4, stop, 60)
        elif first == b"d":
            formulas = formulas or (is_tag(tag, stop, b"div", 3) and names_tex(tag + 3, stop, 60))
    return formulas, listings, players, base


cdef inline bint is_tag(const char *tag, const char *stop, const char *name, int length) noexcept:
    return stop - tag >= length and strncasecmp(tag, name, length) == 0 and not isalnum(<unsigned char>tag[length])


cdef bint names_tex(const char *data, const char *stop, int most) noexcept:
    """Whether the first characters of a tag contain ``math``, ``latex`` or ``data-tex``."""
    cdef const char *last = data + most if stop - data > most else stop
    while data < last and data[0] != b">":
        if data[0] == b"m" and stop - data >= 4 and strncmp(data, b"math", 4) == 0:
            return True
        if data[0] == b"l" and stop - data >= 5 and strncmp(data, b"latex", 5) == 0:
            return True
        if data[0] == b"d" and stop - data >= 8 and strncmp(data, b"data-tex", 8) == 0:
            return True
        data += 1
    return False


cdef Py_ssize_t values_outside_scripts(const char *data, const char *stop) noexcept:
    """Count ``=`` except in scripts and styles."""
    cdef Py_ssize_t values = 0, own
    cdef const char *part = data
    cdef bint is_raw, is_closed
    while part < stop:
        is_raw = strncmp(part, b"script", 6) == 0 or strncmp(part, b"SCRIPT", 6) == 0
        is_raw = is_raw or strncmp(part, b"style", 5) == 0 or strncmp(part, b"STYLE", 5) == 0
        is_closed = False
        own = 0
        while part < stop and part[0] != b"<":
            own += part[0] == b"="
            is_closed = is_closed or part[0] == b">"
            part += 1
        if not (is_raw and is_closed):
            values += own
        part += 1
    return values


cdef const char *last_in(const char *data, char wanted, Py_ssize_t size) noexcept:
    cdef Py_ssize_t i
    for i in range(size - 1, -1, -1):
        if data[i] == wanted:
            return data + i
    return NULL


cdef const char *end_of_script(const char *data, Py_ssize_t position, Py_ssize_t size) noexcept:
    """Return the end of the script or style whose opening tag ends before a position, or NULL if there is none."""
    cdef const char *tag = last_in(data, b"<", position)
    cdef Py_ssize_t length
    if tag == NULL or not position or data[position - 1] != b">":
        return NULL
    length = 6 if strncasecmp(tag + 1, b"script", 6) == 0 else 5 if strncasecmp(tag + 1, b"style", 5) == 0 else 0
    if not length:
        return NULL
    cdef const char *end = tag + 1
    while True:
        end = <const char *>memchr(end, b"<", data + size - end)
        if end == NULL or data + size - end < length + 2:
            return data + size - 1
        if end[1] == b"/" and strncasecmp(end + 2, tag + 1, length) == 0:
            return end
        end += 1


cdef bint in_string(const char *data, const char *stop) noexcept:
    """Whether the rest of a string, its quote and punctuation follow a ``</script``. See `_SCRIPT_END_IN_STRING`."""
    cdef int items = 0
    cdef const char *close
    while data < stop and data[0] != b">":
        if not is_white(data[0]):
            return False
        data += 1
    data += 1
    while data < stop and data[0] != b"\n":
        if data[0] == b'"' or data[0] == b"'" or data[0] == b"`":
            return ends_string(data + 1, stop)
        if data[0] == b"<" or data[0] == b"=":
            items += 1
            if items > 20 or (data[0] == b"<" and strncasecmp(data + 1, b"script", 6) == 0):
                return False
        if data[0] == b"=":
            data += data + 1 < stop and data[1] == b"\\"
            if data + 1 < stop and (data[1] == b'"' or data[1] == b"'"):
                close = data + 2
                while close < stop and close[0] != data[1] and close[0] != b"\n":
                    close += 1
                if close < stop and close[0] == data[1]:
                    data = close
        data += 1
    return False


cdef bint ends_string(const char *data, const char *stop) noexcept:
    while data < stop and data[0] != b"\n" and is_white(data[0]):
        data += 1
    if data >= stop:
        return False
    return memchr(b";,.:?+)]}&|\n", data[0], 12) != NULL or strncasecmp(data, b"</script", 8) == 0


cdef inline bint is_white(char code) noexcept:
    return code == 32 or 9 <= code <= 13
