# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False
# distutils: language = c++
"""The native twin of the checks in page/parse.py that look for rare trouble in the bytes of a page."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint64_t
from libc.string cimport memchr, memcpy, strncasecmp, strncmp
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from "<ctype.h>" nogil:
    int isalnum(int code)


def survey(
    bytes page, bint script, bint style, bint svg, bint head, bint data, vector[string] read_data, bint json,
    int most_attributes,
):
    """Return the page without markup that nobody reads, and what to check before parsing.

    This markup is scripts and styles, pictures made of shapes, ``<meta>`` and ``<link>`` in the head, and attributes
    that begin with ``data-``, except those in `read_data`, as far as the arguments name them. Parsing would copy it
    into the tree. With `json`, scripts with JSON-LD stay, and only the text of other scripts is left out. The rest of
    the result tells whether the page may have a tag with too many attributes, script ends
    in strings, and references to C1 controls, how often it has ``<``, and its rare tags, or None if these are not
    known. False is certain. True means that the slower check in Python has to decide.
    """
    cdef const char *start = page
    cdef const char *stop = start + len(page)
    cdef const char *found = start
    cdef vector[Range] unread
    cdef Rare rare
    cdef bint has_script_end = False, has_reference = False, is_unclear
    cdef Py_ssize_t tags = 0
    rare.formulas = rare.listings = rare.media = rare.base = rare.ruby = rare.quotes = rare.links = False
    with nogil:
        is_unclear = find_unread(
            start, stop, script, style, svg, head, &read_data if data else NULL, json, most_attributes, unread, &rare
        )
        while True:
            found = <const char *>memchr(found, b"<", stop - found)
            if found == NULL:
                break
            tags += 1
            found += 1
            if found[0] == b"/" and not has_script_end and strncasecmp(found + 1, b"script", 6) == 0:
                has_script_end = in_string(found + 7, stop)
        found = start
        while not has_reference:
            found = <const char *>memchr(found, b"&", stop - found)
            if found == NULL or stop - found < 6:
                break
            has_reference = found[1] == b"#" and found[2] == b"1" and b"2" <= found[3] <= b"5" and found[5] == b";"
            found += 1
    # A formula may be followed by a script, so scripts stay in pages with formulas.
    read_part = without(page, unread, not is_unclear and not rare.formulas)
    return read_part, is_unclear, has_script_end, has_reference, tags, None if is_unclear else as_tuple(&rare)


def is_utf8(bytes page):
    """Return whether a page is valid UTF-8 without NUL characters."""
    cdef const unsigned char *at = page
    cdef const unsigned char *stop = at + len(page)
    cdef uint64_t eight
    cdef int more
    if memchr(at, 0, stop - at) != NULL:
        return False
    with nogil:
        while at < stop:
            if stop - at >= 8:
                memcpy(&eight, at, 8)
                if not eight & 0x8080808080808080ULL:
                    at += 8
                    continue
            if at[0] < 0x80:
                at += 1
                continue
            more = 1 if 0xC2 <= at[0] <= 0xDF else 2 if 0xE0 <= at[0] <= 0xEF else 3 if 0xF0 <= at[0] <= 0xF4 else 0
            if not more or stop - at <= more:
                break
            # The second byte excludes characters in too many bytes, surrogates and numbers above 0x10FFFF.
            if not (0xA0 if at[0] == 0xE0 else 0x90 if at[0] == 0xF0 else 0x80) <= at[1] <= (
                0x9F if at[0] == 0xED else 0x8F if at[0] == 0xF4 else 0xBF
            ):
                break
            at += 2
            more -= 1
            while more and at[0] & 0xC0 == 0x80:
                at += 1
                more -= 1
            if more:
                at = stop + 1
    return at == stop


cdef struct Rare:
    bint formulas, listings, media, base, ruby, quotes, links


cdef tuple as_tuple(Rare *rare):
    return (
        bool(rare.formulas), bool(rare.listings), bool(rare.media), bool(rare.base), bool(rare.ruby),
        bool(rare.quotes), bool(rare.links),
    )


def rare_tags(bytes page):
    """Return whether a page may have formulas, listings, media, a base address, ruby text, quotes, and addresses."""
    cdef const char *stop = <const char *>page + len(page)
    cdef const char *tag = page
    cdef Rare rare
    rare.formulas = rare.listings = rare.media = rare.base = rare.ruby = rare.quotes = rare.links = False
    while True:
        tag = <const char *>memchr(tag, b"<", stop - tag)
        if tag == NULL:
            break
        tag += 1
        if tag == stop:
            break
        note_rare_tag(tag, stop, &rare)
    return as_tuple(&rare)


cdef inline void note_rare_tag(const char *tag, const char *stop, Rare *rare) noexcept nogil:
    cdef int first = tag[0] | 32  # in lower case
    if first == b"m":
        rare.formulas = rare.formulas or is_tag(tag, stop, b"math", 4)
        rare.links = rare.links or is_tag(tag, stop, b"meta", 4)
    elif first == b"p":
        rare.listings = rare.listings or is_tag(tag, stop, b"pre", 3)
        rare.media = rare.media or is_tag(tag, stop, b"picture", 7)
    elif first == b"c":
        rare.listings = rare.listings or is_tag(tag, stop, b"code", 4)
    elif first == b"v":
        rare.media = rare.media or is_tag(tag, stop, b"video", 5)
    elif first == b"a":
        rare.media = rare.media or is_tag(tag, stop, b"audio", 5)
    elif first == b"b":
        rare.base = rare.base or is_tag(tag, stop, b"base", 4)
    elif first == b"r":
        rare.ruby = rare.ruby or is_tag(tag, stop, b"rt", 2)
    elif first == b"l":
        rare.links = rare.links or is_tag(tag, stop, b"link", 4)
    elif first == b"q":
        rare.quotes = rare.quotes or is_tag(tag, stop, b"q", 1)
    elif first == b"i":
        rare.media = rare.media or is_tag(tag, stop, b"iframe", 6)
        rare.formulas = rare.formulas or (is_tag(tag, stop, b"img", 3) and names_tex(tag + 3, stop, 200))
    elif first == b"s":
        if not rare.formulas and (is_tag(tag, stop, b"span", 4) or is_tag(tag, stop, b"script", 6)):
            rare.formulas = names_tex(tag + 4, stop, 60)
    elif first == b"d":
        rare.formulas = rare.formulas or (is_tag(tag, stop, b"div", 3) and names_tex(tag + 3, stop, 60))


cdef inline bint is_tag(const char *tag, const char *stop, const char *name, int length) noexcept nogil:
    return stop - tag >= length and (length == 1 or tag[1] | 32 == name[1]) and strncasecmp(tag, name, length) == 0 and not isalnum(<unsigned char>tag[length])


cdef bint names_tex(const char *data, const char *stop, int most) noexcept nogil:
    """Whether the first characters of a tag contain ``math``, ``latex`` or ``data-tex``."""
    cdef const char *last = data + most if stop - data > most else stop
    while data < last and data[0] != b">":
        if data[1] == b"a":  # most characters end here
            if data[0] == b"m" and stop - data >= 4 and strncmp(data, b"math", 4) == 0:
                return True
            if data[0] == b"l" and stop - data >= 5 and strncmp(data, b"latex", 5) == 0:
                return True
            if data[0] == b"d" and stop - data >= 8 and strncmp(data, b"data-tex", 8) == 0:
                return True
        data += 1
    return False


cdef bint in_string(const char *data, const char *stop) noexcept nogil:
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


cdef bint ends_string(const char *data, const char *stop) noexcept nogil:
    while data < stop and data[0] != b"\n" and is_white(data[0]):
        data += 1
    if data >= stop:
        return False
    return memchr(b";,.:?+)]}&|\n", data[0], 12) != NULL or strncasecmp(data, b"</script", 8) == 0


cdef inline bint is_white(char code) noexcept nogil:
    return code == 32 or 9 <= code <= 13


# Markup that nobody reads.

cdef struct Range:
    const char *start
    const char *stop
    # The element around it, which nobody reads either, or NULL.
    const char *element_start
    const char *element_stop

cdef enum Place:
    BEFORE_HEAD
    IN_HEAD
    AFTER_HEAD
    IN_BODY
    IN_NOSCRIPT  # in the head
    UNKNOWN


cdef bytes without(bytes page, vector[Range] &unread, bint elements):
    """Return a page without some parts, or without the elements around them."""
    cdef const char *data = page
    cdef const char *stop = data + len(page)
    cdef Py_ssize_t dropped = 0
    cdef size_t number
    for number in range(unread.size()):
        if elements and unread[number].element_start != NULL:
            unread[number].start, unread[number].stop = unread[number].element_start, unread[number].element_stop
        dropped += unread[number].stop - unread[number].start
    if not dropped:
        return page
    result = PyBytes_FromStringAndSize(NULL, len(page) - dropped)
    cdef char *out = result
    cdef Range part
    for part in unread:
        memcpy(out, data, part.start - data)
        out += part.start - data
        data = part.stop
    memcpy(out, data, stop - data)
    return result


cdef bint find_unread(
    const char *at, const char *stop, bint script, bint style, bint svg, bint head, const vector[string] *read_data,
    bint json, int most_attributes, vector[Range] &unread, Rare *rare
) except -1 nogil:
    """Find the markup that nobody reads, and rare tags. Return whether a tag is unclear or has too many attributes.

    If `read_data` is NULL, all attributes are read.
    Tags are read as libxml2 2.14 reads them. The search ends with True at tags that other parsers, or the patterns in
    page/parse.py, may read differently. Whole elements are found only in the head and the body of pages that have
    tags for both, because elsewhere they make the parser add these tags.
    """
    cdef const char *tag
    cdef const char *name
    cdef const char *end
    cdef const char *picture = NULL
    cdef Range part
    cdef int length, attributes, groups = 0
    cdef bint is_closing, is_empty, is_style, in_picture = False, may_drop
    cdef size_t before, before_picture = 0
    cdef Place place = BEFORE_HEAD
    while True:
        tag = <const char *>memchr(at, b"<", stop - at)
        if tag == NULL:
            return False
        if place < IN_BODY and not is_blank(at, tag):
            place = UNKNOWN
        is_closing = tag[1] == b"/"
        name = tag + 1 + is_closing
        if not is_letter(name[0]):
            if place < IN_BODY and tag[1] != b"!" and tag[1] != b"?":
                place = UNKNOWN
            at = end_of_declaration(tag, stop)
            if at == NULL:
                return True
            continue
        length = 1
        while name[length] != b">" and name[length] != b"/" and not is_html_space(name[length]):
            if name + length >= stop:
                return True
            length += 1
        before = unread.size()
        at = end_of_tag(name + length, stop, &is_empty, &attributes, read_data, unread)
        if at == NULL or (attributes >= most_attributes and not is_closing):
            return True
        if place != UNKNOWN:
            place = next_place(place, name, length, is_closing)
        # Without the element, "<" or "&" in the text before it could become a tag or a reference.
        may_drop = (place == IN_HEAD or place == IN_BODY) and (is_html_space((tag - 1)[0]) or (tag - 1)[0] == b">")
        part.element_start = part.element_stop = NULL
        if svg and is_named(name, length, b"svg"):
            if is_closing and in_picture and picture != NULL:
                unread.resize(before_picture)  # the shapes are inside
                part.start, part.stop = picture, at
                unread.push_back(part)
            in_picture = not is_closing and not is_empty
            picture = tag if may_drop and in_picture else <const char *>NULL
            before_picture = before
            groups = 0
        elif in_picture and is_named(name, length, b"g"):
            groups += -1 if is_closing else 0 if is_empty else 1
            in_picture = groups >= 0  # else it closes a group around the picture, and the picture
        elif in_picture:
            end = end_of_shape(name, length, at, stop, is_empty) if not is_closing else <const char *>NULL
            in_picture = end != NULL
            if in_picture:
                unread.resize(before)  # its attributes are inside
                part.start, part.stop = tag, end
                unread.push_back(part)
                at = end
        elif head and may_drop and place == IN_HEAD and is_unread_in_head(name, length, at):
            unread.resize(before)
            part.start, part.stop = tag, at
            unread.push_back(part)
            continue
        if is_closing:
            continue
        note_rare_tag(name, stop, rare)
        if is_empty or not is_raw(name, length):
            continue
        end = end_of_text(name, length, at, stop)
        if end == NULL:
            return True
        is_style = is_named(name, length, b"style")
        if style and is_style or (script and is_named(name, length, b"script") and not is_data(name, at, json)):
            part.start, part.stop = at, end
            at = <const char *>memchr(end, b">", stop - end)
            if at == NULL:
                return True
            at += 1
            if may_drop and (is_style or not json):
                unread.resize(before)
                part.element_start, part.element_stop = tag, at
            unread.push_back(part)
        else:
            at = end


cdef Place next_place(Place place, const char *name, int length, bint is_closing) noexcept nogil:
    """Return where the parser is after a tag. The usual tags lead from the head to the body; others are unclear."""
    if place == IN_BODY:
        return UNKNOWN if is_closing and (is_named(name, length, b"body") or is_named(name, length, b"html")) else IN_BODY
    if is_named(name, length, b"html") and not is_closing and place == BEFORE_HEAD:
        return place
    if is_named(name, length, b"head"):
        return IN_HEAD if place == BEFORE_HEAD and not is_closing else (
            AFTER_HEAD if place == IN_HEAD and is_closing else UNKNOWN)
    if is_named(name, length, b"body") and not is_closing and (place == IN_HEAD or place == AFTER_HEAD):
        return IN_BODY
    if is_named(name, length, b"noscript"):
        return IN_NOSCRIPT if place == IN_HEAD and not is_closing else (
            IN_HEAD if place == IN_NOSCRIPT and is_closing else UNKNOWN)
    if place == IN_NOSCRIPT:
        return place
    if place == IN_HEAD and (
        is_named(name, length, b"meta") or is_named(name, length, b"link") or is_named(name, length, b"script")
        or is_named(name, length, b"style") or is_named(name, length, b"title") or is_named(name, length, b"base")
    ):
        return IN_HEAD
    return UNKNOWN


cdef bint is_unread_in_head(const char *name, int length, const char *end) noexcept nogil:
    """Whether a tag is a ``<meta>`` or ``<link>`` that does not name the address of the page."""
    if not is_named(name, length, b"meta") and not is_named(name, length, b"link"):
        return False
    while name < end:
        if name[0] | 32 == b"c" and strncasecmp(name, b"canonical", 9) == 0:
            return False
        if name[0] == b"o" and strncmp(name, b"og:url", 6) == 0:
            return False
        if name[0] == b"&" and name[1] == b"#" and strncmp(name + 2, b"038;", 4) != 0:
            return False  # perhaps a reference to a letter
        name += 1
    return True


cdef inline bint is_blank(const char *at, const char *stop) noexcept nogil:
    while at < stop:
        if not is_html_space(at[0]):
            return False
        at += 1
    return True


cdef const char *end_of_declaration(const char *tag, const char *stop) noexcept nogil:
    """Return the end of a comment or declaration, the next character after another ``<``, or NULL."""
    cdef const char *end = tag + 4
    if strncmp(tag, b"<!--", 4) == 0:
        if end[0] == b">" or (end[0] == b"-" and end[1] == b">"):
            return NULL
        while True:
            end = <const char *>memchr(end, b"-", stop - end)
            if end == NULL or (end[1] == b"-" and end[2] == b"!"):
                return NULL
            if end[1] == b"-" and end[2] == b">":
                return end + 3
            end += 1
    if tag[1] != b"!" and tag[1] != b"?" and tag[1] != b"/":
        return tag + 1
    end = <const char *>memchr(tag, b">", stop - tag)
    return end + 1 if end != NULL and memchr(tag + 1, b"<", end - tag) == NULL else <const char *>NULL


cdef const char *end_of_tag(
    const char *at, const char *stop, bint *is_empty, int *attributes, const vector[string] *read_data,
    vector[Range] &unread
) except? NULL nogil:
    """Return the end of a tag, given the end of its name, or NULL if it is unclear.

    Also find out whether it ends in ``/>``, count its attributes, and find those that nobody reads.
    """
    cdef bint has_name = False
    cdef Range attribute
    cdef const char *name = NULL
    cdef const char *name_end = NULL
    cdef const char *value_end = NULL
    attributes[0] = 0
    attribute.element_start = attribute.element_stop = NULL
    while at < stop:
        if at[0] == b">":
            is_empty[0] = (at - 1)[0] == b"/" and at != value_end
            return at + 1
        if at[0] == b"=":
            if not has_name:
                return NULL
            has_name = False
            name_end = at
            at += 1
            while is_html_space(at[0]):
                at += 1
            if at[0] == b'"' or at[0] == b"'":
                at = <const char *>memchr(at + 1, at[0], stop - at - 1)
                if at == NULL:
                    return NULL
                at += 1
                if read_data != NULL and is_unread_data(name, name_end, read_data):
                    attribute.start, attribute.stop = name, at
                    unread.push_back(attribute)
            else:
                while at < stop and at[0] != b">" and not is_html_space(at[0]):
                    if at[0] == b"=" and (at[1] == b'"' or at[1] == b"'" or is_html_space(at[1])):
                        return NULL
                    attributes[0] += at[0] == b"/"
                    at += 1
                value_end = at
            continue
        if at[0] == b"/":
            has_name = False
        elif not is_html_space(at[0]):
            if not has_name or is_html_space((at - 1)[0]):
                attributes[0] += 1
                name = at
            has_name = True
        at += 1
    return NULL


cdef bint is_unread_data(const char *name, const char *end, const vector[string] *read_data) noexcept nogil:
    """Whether an attribute begins with ``data-`` and is not one of those that are read."""
    cdef size_t number
    if end - name < 6 or strncmp(name, b"data-", 5) != 0:
        return False
    for number in range(read_data.size()):
        if strncasecmp(name, read_data.at(number).data(), read_data.at(number).size()) == 0:
            return False
    return True


cdef const char *end_of_text(const char *name, int length, const char *at, const char *stop) noexcept nogil:
    """Return the start of the closing tag after the text of an element without tags, or NULL if it is unclear."""
    cdef bint has_comment = False, is_usual = name[0] | 32 == b"s" or name[0] | 32 == b"t"
    while True:
        at = <const char *>memchr(at, b"<", stop - at)
        if at == NULL or stop - at < length + 3:
            return NULL
        if at[1] == b"/" and strncasecmp(at + 2, name, length) == 0:
            at += 2 + length
            return at - 2 - length if at[0] == b">" or at[0] == b"/" or is_html_space(at[0]) else NULL
        if not is_usual:
            return NULL
        if strncmp(at, b"<!--", 4) == 0:
            has_comment = True
        elif has_comment and strncasecmp(at + 1, b"script", 6) == 0:
            return NULL  # the script ends at the second closing tag
        at += 1


cdef const char *end_of_shape(
    const char *name, int length, const char *at, const char *stop, bint is_empty
) noexcept nogil:
    """Return the end of a shape without content, given the end of its opening tag, or NULL."""
    if not (
        is_named(name, length, b"path") or is_named(name, length, b"circle") or is_named(name, length, b"rect")
        or is_named(name, length, b"polygon") or is_named(name, length, b"line") or is_named(name, length, b"use")
    ):
        return NULL
    if is_empty:
        return at
    if stop - at < length + 3 or at[0] != b"<" or at[1] != b"/" or strncasecmp(at + 2, name, length) != 0:
        return NULL
    return at + length + 3 if at[length + 2] == b">" else <const char *>NULL


cdef bint is_data(const char *name, const char *end, bint json) noexcept nogil:
    """Whether the type of a script may be ``math/tex`` or, with `json`, JSON-LD, possibly with references."""
    while name < end:
        if name[0] == b"&" or strncmp(name, b"math", 4) == 0 or (json and strncmp(name, b"ld+json", 7) == 0):
            return True
        name += 1
    return False


cdef inline bint is_named(const char *name, int length, const char *wanted) noexcept nogil:
    return name[0] | 32 == wanted[0] and strncasecmp(name, wanted, length) == 0 and wanted[length] == 0


cdef bint is_raw(const char *name, int length) noexcept nogil:
    """Whether an element contains only text, whatever it looks like."""
    cdef char first = name[0] | 32
    if first == b"s":
        return is_named(name, length, b"script") or is_named(name, length, b"style")
    if first == b"t":
        return is_named(name, length, b"title") or is_named(name, length, b"textarea")
    if first == b"n":
        return is_named(name, length, b"noframes") or is_named(name, length, b"noembed")
    return (first == b"i" and is_named(name, length, b"iframe")) or (first == b"x" and is_named(name, length, b"xmp")) or (
        first == b"p" and is_named(name, length, b"plaintext"))


cdef inline bint is_letter(char code) noexcept nogil:
    return b"a" <= (code | 32) <= b"z"


cdef inline bint is_html_space(char code) noexcept nogil:
    return code == 32 or code == 9 or code == 10 or code == 12 or code == 13
