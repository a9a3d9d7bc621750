# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False
# distutils: language = c++
"""The native twin of outputs/text.py: writes the text of pages without tables and listings."""

from libcpp.vector cimport vector

from victorpy.native.split cimport Page

from victorpy.document import Label

cdef object LIST = Label.LIST, PARAGRAPH = Label.PARAGRAPH, CONTINUATION = Label.CONTINUATION, OTHER = Label.OTHER


def plain_text(Page page not None, tuple labels not None, tidy not None, str signs not None, str invisible not None):
    """Return the kept text of a page, or None if part of it is in a table or listing. Twin of `render_text`.

    `tidy` returns the text of a block that may contain signs of links, marks of notes or control characters, given its
    number. `signs` are the characters that such links begin or end with.
    """
    cdef int block, element, pieces, count = <int>page.block_element.size(), previous = -1
    cdef bint is_heading, has_text = False, has_marks = page.has_tag("sup")
    cdef int tag, raised = page.tag_numbers.get("sup", -1)
    cdef vector[int] in_heading, structured
    cdef str text
    cdef list written = [], segment = []
    cdef object label, segment_label = None, written_label = None
    if len(labels) != count:
        raise ValueError("a page needs one label for each block")
    for name in ("h1", "h2", "h3", "h4", "h5", "h6"):
        in_heading.push_back(page.tag_numbers.get(name, -1))
    for name in ("table", "caption", "pre"):
        structured.push_back(page.tag_numbers.get(name, -1))
    for block in range(count + 1):
        label = labels[block] if block < count else PARAGRAPH
        if label is OTHER:
            continue
        if segment and (block == count or label is not CONTINUATION):
            if has_text:
                if written:
                    written.append("\n" if written_label is LIST and segment_label is LIST else "\n\n")
                written += segment
                written_label = segment_label
            segment = []
        if block == count:
            break
        is_heading = False
        element = page.block_element[block]
        while element >= 0:
            tag = page.element_tag[element]
            if tag == structured[0] or tag == structured[1] or tag == structured[2]:
                return None
            is_heading = is_heading or is_in(tag, in_heading)
            element = page.parent[element]
        text = page.texts[block]
        pieces = page.block_start[block + 1] - page.block_start[block]
        if has_controls(text) or (is_heading and len(text) <= 2) or (
            pieces > 1 and (is_heading or (text and (text[0] in signs or text[len(text) - 1] in signs))
                            or (has_marks and has_piece_in(page, block, raised)))
        ):
            text = tidy(block)
        if segment:
            if page.gaps[page.block_start[block]] or block != previous + 1:
                segment.append(" ")
        else:
            segment_label = PARAGRAPH if label is CONTINUATION else label
            has_text = False
        segment.append(text)
        has_text = has_text or is_visible(text, invisible)
        previous = block
    return "".join([*written, "\n"]) if written else ""


cdef bint has_piece_in(Page page, int block, int tag) noexcept:
    """Whether a piece of a block is inside an element with a tag, which is inside the block."""
    cdef int i, element
    for i in range(page.block_start[block] + 1, page.block_start[block + 1]):
        element = page.texts_[i].element
        while element > page.block_element[block]:
            if page.element_tag[element] == tag:
                return True
            element = page.parent[element]
    return False


cdef bint is_in(int tag, vector[int] &tags) noexcept:
    cdef size_t i
    for i in range(tags.size()):
        if tags[i] == tag:
            return True
    return False


cdef bint has_controls(str text):
    """Whether a text may contain control characters or zero-width characters. See `tables._cleaned`."""
    cdef Py_UCS4 code
    for code in text:
        if code < 32 or 0x7F <= code <= 0xAD and (code <= 0x9F or code == 0xAD) or code >= 0x200B and (
            code == 0x200B or code == 0x2028 or code == 0x2029 or code == 0x2060 or code == 0xFEFF
            or code == 0xFFFE or code == 0xFFFF
        ):
            return True
    return False


cdef bint is_visible(str text, str invisible):
    """Whether a text has a character that is neither white space nor invisible."""
    cdef Py_UCS4 code
    for code in text:
        if not code.isspace() and code not in invisible:
            return True
    return False
