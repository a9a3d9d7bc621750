# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False
# distutils: language = c++
"""The native twin of outputs/text.py: writes the text outside data tables."""

from libcpp.vector cimport vector

from victorpy.native.split cimport Page

from victorpy.document import Label

cdef object LIST = Label.LIST, PARAGRAPH = Label.PARAGRAPH, CONTINUATION = Label.CONTINUATION, OTHER = Label.OTHER


def plain_text(
    Page page not None, tuple labels not None, tidy not None, str signs not None, str invisible not None,
    int first, int stop, bint outside,
):
    """Return the kept text from block `first` to before `stop`, without tables of data. Twin of `render_text`.

    If it is not known whether these blocks are `outside` data tables, return None if one of them is in a table.
    `tidy` returns the text of a block that may contain signs of links, marks of notes or control characters, given its
    number. `signs` are the characters that such links begin or end with.
    """
    cdef int block, element, tag, pieces, caption, previous_caption = -1, previous = -1
    cdef int table_tag = page.tag_numbers.get("table", -1), caption_tag = page.tag_numbers.get("caption", -1)
    cdef int pre_tag = page.tag_numbers.get("pre", -1), sup_tag = page.tag_numbers.get("sup", -1)
    cdef bint is_heading, in_pre, was_in_pre = False, joins, has_text = False, has_marks = page.has_tag("sup")
    cdef vector[int] heading_tags, line_tags
    cdef str text
    cdef list written = [], segment = []
    cdef object label, segment_label = None, written_label = None
    if len(labels) != <int>page.block_element.size() or not 0 <= first <= stop <= len(labels):
        raise ValueError("a page needs one label for each block, and a range of its blocks")
    for name in ("h1", "h2", "h3", "h4", "h5", "h6"):
        heading_tags.push_back(page.tag_numbers.get(name, -1))
    for name in ("div", "li", "p", "tr"):
        line_tags.push_back(page.tag_numbers.get(name, -1))
    for block in range(first, stop):
        label = labels[block]
        if label is OTHER:
            continue
        is_heading, in_pre, caption = False, False, -1
        element = page.block_element[block]
        while element >= 0:
            tag = page.element_tag[element]
            if not outside and (tag == table_tag or tag == caption_tag):
                return None
            if tag == caption_tag and caption < 0:
                caption = element
            in_pre = in_pre or tag == pre_tag
            is_heading = is_heading or is_in(tag, heading_tags)
            element = page.parent[element]
        if caption >= 0 and not (label is CONTINUATION and caption == previous_caption):
            label = PARAGRAPH
        previous_caption = caption
        text = page.texts[block]
        pieces = page.block_start[block + 1] - page.block_start[block]
        if has_controls(text) or (is_heading and len(text) <= 2) or (
            pieces > 1 and (is_heading or (text and (text[0] in signs or text[len(text) - 1] in signs))
                            or (has_marks and has_piece_in(page, block, sup_tag)))
        ):
            text = tidy(block)
        joins = label is CONTINUATION or (in_pre and was_in_pre and not opened(page, block, pre_tag))
        if segment and joins:
            segment.append(joint(page, block, previous, in_pre and was_in_pre, line_tags))
        else:
            if has_text:
                add(written, segment, written_label is LIST and segment_label is LIST)
                written_label = segment_label
            segment, has_text = [], False
            segment_label = PARAGRAPH if label is CONTINUATION else label
        segment.append(text)
        has_text = has_text or is_visible(text, invisible)
        previous, was_in_pre = block, in_pre
    if has_text:
        add(written, segment, written_label is LIST and segment_label is LIST)
    return "".join(written)


cdef add(list written, list segment, bint in_list):
    """Add a segment to the written ones."""
    written.append("\n" if in_list else "\n\n" if written else "")
    written += segment


cdef int opened(Page page, int block, int tag) noexcept:
    """Count the opening tags of one kind between the previous text and a block. A negative tag is not on the page."""
    cdef int place, first = page.block_start[block], count = 0
    if tag < 0:
        return 0
    for place in range(page.texts_[first - 1].place if first else 0, page.texts_[first].place):
        count += page.passed[place] == tag
    return count


cdef str joint(Page page, int block, int previous, bint in_listing, vector[int] &line_tags):
    """Return the text between two blocks of one segment. Twin of `base.joint`."""
    cdef int breaks = 0
    cdef size_t i
    if in_listing:
        breaks = opened(page, block, page.tag_numbers.get("br", -1))
        for i in range(0 if breaks else line_tags.size()):
            breaks = breaks or opened(page, block, line_tags[i]) > 0
    if breaks:
        return "\n" * breaks
    return " " if page.gaps[page.block_start[block]] or block != previous + 1 else ""


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
        if code < 0x200B:
            if code < 32 and code != 9 and code != 10 or 0x7F <= code <= 0x9F or code == 0xAD:
                return True
        elif code in (0x200B, 0x2028, 0x2029, 0x2060, 0xFEFF, 0xFFFE, 0xFFFF):
            return True
    return False


cdef bint is_visible(str text, str invisible):
    """Whether a text has a character that is neither white space nor invisible."""
    cdef Py_UCS4 code
    for code in text:
        if not code.isspace() and code not in invisible:
            return True
    return False
