# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False
# distutils: language = c++
"""The native twin of page/split.py for parsed pages: walks libxml2's tree and cuts it into blocks.

Read `Splitter` in page/split.py first: names and steps are the same here. Everything is copied out of the tree before
a call returns, and nothing is recursive. Objects of Python are made only when somebody asks for them.
"""

from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport uint64_t
from libc.string cimport memset, strlen, strncasecmp, strncmp
from libcpp.algorithm cimport find, lower_bound, sort, unique
from libcpp.numeric cimport iota
from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Element, elementFactory, import_lxml__etree

from lxml import etree

from victorpy.document import Block, Elements, Piece

import_lxml__etree()

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char *text, Py_ssize_t size, const char *errors)
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 largest)
    void *PyUnicode_DATA(object text)
    ctypedef struct PyTypeObject:
        object (*tp_alloc)(type kind, Py_ssize_t size)

cdef enum:
    MOST_WORDS = 64  # that are searched for together

cdef enum:
    PRE = 1
    IMG = 2
    VOID_TAG = 4
    BLOCK_LEVEL = 8
    DELETED = 16
    UNWRAPPED = 32
    USED = 64
    DIVIDING = 128
    STYLING = 256
    PRICING = 512
    LISTING = 1024

# Tags between two texts.
cdef enum:
    ENDS = 1
    BEGINS = 2
    STYLES = 4
    PRICES = 8
    OTHERS = 16

# Attributes that the walk looks at.
cdef enum:
    STYLE = 1
    HIDDEN = 2
    ARIA_HIDDEN = 3
    ALT = 4
    CLASS = 5
    HREF = 6

cdef dict _KINDS = {
    "style": STYLE, "hidden": HIDDEN, "aria-hidden": ARIA_HIDDEN, "alt": ALT, "class": CLASS, "href": HREF,
}

cdef inline bint is_white(unsigned char code) noexcept nogil:
    """Whether an ASCII character is white space for `str.split`."""
    return code == 32 or 9 <= code <= 13 or 28 <= code <= 31


cdef bint is_label(str text):
    """Whether a text has several words or ends with a colon."""
    return text[len(text) - 1] == u":" or len(text.split(None, 1)) > 1


cdef bint divided(str before, str after, int tags):
    """Whether two texts without white space between them are separate words. The twin is `page.split.divides`."""
    cdef Py_ssize_t size = len(before)
    cdef Py_UCS4 last = before[size - 1], first = after[0]
    cdef Py_UCS4 second = before[size - 2] if size > 1 else u" "
    cdef bint is_word = last.islower() and second.isalpha()
    if last in u".!?:":
        is_word = last != u"." or second.isdecimal() or len(before.split(None, 1)) > 1
        is_word = is_word and second.isalnum() and len(after) > 1 and (<Py_UCS4>after[1]).islower()
    if tags != ENDS | BEGINS:
        if not is_word or not first.isupper():
            return False
        return (tags & ENDS and is_label(before)) or (tags & BEGINS and is_label(after))
    if last.isdecimal():
        return first.isupper() and len(after) > 1 and (<Py_UCS4>after[1]).islower()
    if last == u":" or last == u"]":
        return second.isalnum() and first.isupper()
    if size > 3 and first.isdecimal() and before[size - 4:].isalpha() and before[size - 4:].isupper():
        return True
    return is_word and (first.isupper() or first.isdecimal() or first in u"$€£¥₹")


cdef class Page:
    """A page's elements and blocks as plain arrays."""

    def __init__(
        self, object cuts, object void_tags, dividing, delete, unwrap, int deepest, size_t most_tags, hides, boxes,
        clean_tag, lines_of,
    ):
        self.every = cuts.every
        self.block_level = cuts.block_level
        self.kept_attributes = cuts.attributes
        self.dividing_tags, self.deleted_tags, self.unwrapped_tags = dividing, delete, unwrap
        self.void_tags, self.deepest, self.hides, self.clean_tag, self.lines_of = void_tags, deepest, hides, clean_tag, lines_of
        self.most_tags, self.boxes = most_tags, boxes
        self.tag_numbers = {}
        self.tag_names, self.closing_names, self.attribute_names = [], [], []
        self.strings, self.indents, self.texts = [], [], []
        self.numbers.push_back(-1)
        self.gap = True
        self.indent = ""

    # The walk.

    cdef inline int tag_number(self, tree.xmlNode *node) except -1:
        cdef size_t address = <size_t>node.name
        cdef Known *known = &self.known_tags[(address >> 3) % SLOTS]
        if known.address != address or node.ns != NULL:
            known.number = self.find_tag(node)
            known.address = address if node.ns == NULL else 0
        return known.number

    cdef int find_tag(self, tree.xmlNode *node) except -1:
        cdef size_t address = <size_t>node.name
        cdef int number
        if node.ns == NULL and self.tag_at.count(address):
            return self.tag_at[address]
        name = node.name.decode("utf-8")
        if node.ns != NULL and node.ns.href != NULL:
            name = "{%s}%s" % (node.ns.href.decode("utf-8"), name)
        number = self.number_of(name if name.isalnum() else self.clean_tag("_", name))
        if node.ns == NULL:
            self.tag_at.insert(pair[size_t, int](address, number))
        return number

    cdef int number_of(self, str name) except -1:
        number = self.tag_numbers.get(name)
        if number is None:
            number = self.tag_numbers[name] = len(self.tag_names)
            self.tag_names.append(name)
            self.closing_names.append("/" + name)
            kind = (PRE if name == "pre" else 0) | (IMG if name == "img" else 0)
            kind |= (VOID_TAG if name in self.void_tags else 0) | (BLOCK_LEVEL if name in self.block_level else 0)
            kind |= DIVIDING if name in self.dividing_tags[0] else STYLING if name in self.dividing_tags[1] else 0
            kind |= (PRICING if name in self.dividing_tags[2] else 0) | (LISTING if name in self.dividing_tags[3] else 0)
            kind |= (DELETED if name in self.deleted_tags else 0) | (UNWRAPPED if name in self.unwrapped_tags else 0)
            self.tag_kinds.push_back(kind)
        return number

    cdef int find_attribute(self, tree.xmlAttr *attribute) except -2:
        """Return the number of an attribute, -1 if it is not kept."""
        cdef size_t address = <size_t>attribute.name
        if self.attribute_at.count(address):
            return self.attribute_at[address]
        cdef int number = -1
        name = attribute.name.decode("utf-8")
        if name in self.kept_attributes:
            if name not in self.attribute_names:
                self.attribute_names.append(name)
                self.attribute_kinds.push_back(_KINDS.get(name, 0))
            number = self.attribute_names.index(name)
        self.attribute_at.insert(pair[size_t, int](address, number))
        return number

    cdef bint read_attributes(self, tree.xmlNode *node) except -1:
        """Copy the kept attributes of an element. Return whether one of them may hide it."""
        cdef tree.xmlAttr *attribute = node.properties
        cdef tree.xmlNode *value
        cdef Known *known
        cdef Attribute kept
        cdef bint may_hide = False
        while attribute != NULL:
            if attribute.ns == NULL:
                known = &self.known_attributes[(<size_t>attribute.name >> 3) % SLOTS]
                if known.address != <size_t>attribute.name:
                    known.number = self.find_attribute(attribute)
                    known.address = <size_t>attribute.name
                kept.name = known.number
                if kept.name >= 0:
                    kept.start = self.values.size()
                    value = attribute.children
                    while value != NULL:
                        if value.content != NULL:
                            self.values.append(<const char *>value.content)
                        value = value.next
                    kept.length = self.values.size() - kept.start
                    self.attributes_.push_back(kept)
                    if self.attribute_kinds[kept.name]:
                        may_hide = may_hide or self.may_hide(kept)
            attribute = attribute.next
        return may_hide

    cdef bint may_hide(self, Attribute attribute) noexcept:
        """Whether an attribute may hide its element. `hides` decides."""
        cdef const char *value = self.values.data() + attribute.start
        cdef int kind = self.attribute_kinds[attribute.name]
        cdef size_t i
        if kind == STYLE:
            for i in range(attribute.length):
                if value[i] & 128 or (value[i] | 32 == b"d" and strncasecmp(value + i, b"display", 7) == 0):
                    return True
            return False
        return kind == HIDDEN or (kind == ARIA_HIDDEN and attribute.length == 4 and strncmp(value, b"true", 4) == 0)

    cdef str value(self, Attribute attribute):
        return <str>PyUnicode_DecodeUTF8(self.values.data() + attribute.start, attribute.length, NULL)

    cdef dict last_attributes(self, size_t first):
        return {self.attribute_names[self.attributes_[i].name]: self.value(self.attributes_[i])
                for i in range(first, self.attributes_.size())}

    cdef int walk(self, _Element root) except -1:
        """Record a whole tree."""
        cdef tree.xmlNode *top = root._c_node
        cdef tree.xmlNode *node = top
        cdef tree.xmlNode *next_element
        while True:
            self.start(self.tag_number(node), node)
            next_element = self.add_texts(node.children, top)
            while next_element == NULL:  # the element has no more children
                self.end()
                next_element = self.add_texts(self.following(node, top), top)
                if node == top:
                    return 0
                if next_element == NULL:
                    node = self.real_parent(node, top)
            node = next_element

    cdef tree.xmlNode *real_parent(self, tree.xmlNode *node, tree.xmlNode *top) except NULL:
        """Return the innermost element around a node that is not unwrapped."""
        node = node.parent
        while node != top and self.tag_kinds[self.tag_number(node)] & UNWRAPPED:
            node = node.parent
        return node

    cdef tree.xmlNode *following(self, tree.xmlNode *node, tree.xmlNode *top) except? NULL:
        """Return the next node in the same element. Those in and after an unwrapped element belong to its parent."""
        while node != top and node.next == NULL and node.parent != top:
            if not self.tag_kinds[self.tag_number(node.parent)] & UNWRAPPED:
                break
            node = node.parent
        return node.next

    cdef tree.xmlNode *add_texts(self, tree.xmlNode *node, tree.xmlNode *top) except? NULL:
        """Add the text at a position among an element's children. Return the next element that is kept."""
        cdef tree.xmlNode *first = NULL
        cdef bint several = False
        cdef int kind
        while node != NULL:
            if node.type == tree.XML_ELEMENT_NODE:
                kind = self.tag_kinds[self.tag_number(node)]
                if kind & UNWRAPPED and node.children != NULL:
                    node = node.children
                    continue
                if not kind & (UNWRAPPED | DELETED):
                    break
            elif node.content != NULL and (
                node.type == tree.XML_TEXT_NODE or node.type == tree.XML_CDATA_SECTION_NODE
            ):
                if first == NULL:
                    first = node
                else:
                    if not several:
                        several = True
                        self.buffer.assign(<const char *>first.content)
                    self.buffer.append(<const char *>node.content)
            node = self.following(node, top)
        if several:
            self.add_text(self.buffer.data(), self.buffer.size())
        elif first != NULL:
            self.add_text(<const char *>first.content, strlen(<const char *>first.content))
        return node

    cdef int start(self, int tag, tree.xmlNode *node) except -1:
        """Open an element. One without a node is a line break in a ``<pre>``."""
        cdef int texts = <int>self.texts_.size(), number
        cdef size_t first = self.attributes_.size()
        cdef bint may_hide = False, is_kept = <int>self.numbers.size() <= self.deepest or self.tag_kinds[tag] & IMG
        if self.passed.size() > self.most_tags or first > self.most_tags:
            raise OverflowError("the page has more tags than `int` can number")
        self.passed.push_back(tag)
        self.open_tags.push_back(tag)
        self.tag_kinds[tag] |= USED
        if not is_kept:
            self.too_deep += 1
            self.special = True
        else:
            number = <int>self.element_tag.size()
            self.element_tag.push_back(tag)
            self.parent.push_back(self.numbers.back())
            self.stop.push_back(number + 1)
            self.first_text.push_back(texts)
            self.stop_text.push_back(texts)
            self.numbers.push_back(number)
            self.first_attribute.push_back(<int>first)
        if node != NULL:
            may_hide = self.read_attributes(node)
        if self.preformatted or may_hide or self.tag_kinds[tag] & (PRE | IMG):
            self.start_special(tag, first, may_hide)
        if not is_kept:
            self.attributes_.resize(first)
        return 0

    cdef int start_special(self, int tag, size_t first, bint may_hide) except -1:
        cdef int kind = self.tag_kinds[tag]
        cdef size_t i
        if self.preformatted and kind & BLOCK_LEVEL:
            self.indent = ""
        if kind & IMG:
            for i in range(first, self.attributes_.size()):
                if self.attribute_kinds[self.attributes_[i].name] == ALT and self.attributes_[i].length:
                    alt = self.value(self.attributes_[i])
                    if alt.strip():
                        self.add(" ".join(alt.split()), True, True, alt[0].isspace(), alt[len(alt) - 1].isspace())
                        self.gap = self.cut = True
        if not self.too_deep:
            self.preformatted += (kind & PRE) != 0
            if may_hide and not self.hidden and self.hides(self.last_attributes(first)):
                self.hidden = True
                self.hiding.push_back(self.numbers.back())
                self.hiding_tags.push_back(<int>self.passed.size() - 1)
        self.special = self.too_deep or self.preformatted or self.hidden
        return 0

    cdef int end(self) except -1:
        """Close the innermost element."""
        cdef int tag = self.open_tags.back(), kind = self.tag_kinds[tag], number = -1
        self.open_tags.pop_back()
        if not kind & VOID_TAG:
            self.passed.push_back(~tag)
        if not self.too_deep or kind & IMG:
            number = self.numbers.back()
            self.numbers.pop_back()
            self.stop[number] = <int>self.element_tag.size()
            self.stop_text[number] = <int>self.texts_.size()
        if self.special:
            if self.preformatted and kind & (BLOCK_LEVEL | VOID_TAG) == BLOCK_LEVEL:
                self.indent = ""
            if self.too_deep and not kind & IMG:
                self.too_deep -= 1
            else:
                self.preformatted -= (kind & PRE) != 0
                if self.hidden and self.hiding.back() == number:
                    self.hidden = False
                    self.hiding_tags.push_back(<int>self.passed.size() - 1)
            self.special = self.too_deep or self.preformatted or self.hidden
        return 0

    cdef int add(self, str text, bint gap, bint cut, bint begins_white, bint ends_white) except -1:
        cdef Text added
        added.element = self.numbers.back()
        added.place = <int>self.passed.size()
        added.gap, added.cut, added.preformatted = gap, cut, False
        added.begins_white, added.ends_white = begins_white, ends_white
        self.texts_.push_back(added)
        self.strings.append(text)
        return 0

    cdef int add_text(self, const char *data, size_t size) except -1:
        """Add text. White space is collapsed except in ``<pre>``, where every line is a block."""
        cdef size_t i, length = 0
        cdef bint ascii = True, pending = False
        if not size:
            return 0
        if self.preformatted:
            return self.add_lines(PyUnicode_DecodeUTF8(data, size, NULL))
        for i in range(size):
            if <unsigned char>data[i] > 127:  # char is unsigned on some processors
                ascii = False
                break
            if is_white(data[i]):
                pending = length > 0
            else:
                length += 1 + pending
                pending = False
        if not ascii:
            text = PyUnicode_DecodeUTF8(data, size, NULL)
            if text.isspace():
                self.gap = True
                return 0
            self.add(" ".join(text.split()), self.gap, self.cut, text[0].isspace(), text[len(text) - 1].isspace())
        elif not length:
            self.gap = True
            return 0
        else:
            self.add(collapsed(data, size, length), self.gap, self.cut, is_white(data[0]), is_white(data[size - 1]))
        self.gap = self.cut = False
        return 0

    cdef int add_lines(self, str text) except -1:
        """Add the lines of a ``<pre>``, as if separated by ``<br>``."""
        cdef int element = self.numbers.back(), line_break = self.number_of("br")
        cdef bint is_first = True
        for line in self.lines_of(text):
            if not is_first:
                self.start(line_break, NULL)
                self.end()
                self.indent = ""
            is_first = False
            if line.strip():
                self.add(line, self.gap, self.cut, False, False)
                self.texts_.back().element = element
                self.texts_.back().preformatted = True
                while len(self.indents) < len(self.strings):  # texts outside a <pre> have none
                    self.indents.append("")
                self.indents[len(self.indents) - 1] = self.indent
                self.gap = self.cut = False
                self.indent = ""
            else:
                self.indent += line  # belongs to the next text on the line, if any
        return 0

    # Blocks.

    cdef int make_blocks(self) except -1:
        """Join the texts that no cut separates."""
        cdef int count = <int>self.texts_.size(), i, place, previous = 0, tag, first, number, tags
        cdef size_t hiding = 0
        cdef bint breaks, crossed, gap = True
        cdef Text *text
        self.element_hidden.resize(self.element_tag.size() + 1, 0)  # the last is for element -1, no element
        for first in self.hiding:
            for number in range(first, self.stop[first]):
                self.element_hidden[number] = 1
        self.gaps.resize(count)
        self.piece_offset.resize(count)
        self.blocks_started.resize(count + 1)
        for i in range(count):
            text = &self.texts_[i]
            breaks = crossed = False
            for place in range(previous, text.place):
                tag = self.passed[place]
                if self.tag_kinds[tag if tag >= 0 else ~tag] & BLOCK_LEVEL:
                    breaks = True
                    break
            while hiding < self.hiding_tags.size() and self.hiding_tags[hiding] < text.place:
                crossed = True
                hiding += 1
            if i == 0 or breaks or text.cut or crossed or (self.every and text.place > previous):
                if i:
                    self.block_breaks.push_back(breaks)
                self.block_start.push_back(i)
            gap = gap or breaks or text.gap or (not text.preformatted and text.begins_white)
            if not gap and i and not text.preformatted:
                tags = self.tags_passed(previous, text.place)
                if tags and not tags & OTHERS:
                    gap = divided(<str>self.strings[i - 1], <str>self.strings[i], tags)
                gap = gap or (tags and self.stand_apart(i, tags))
            self.gaps[i] = gap
            gap = not text.preformatted and text.ends_white
            previous = text.place
            self.blocks_started[i + 1] = <int>self.block_start.size()
        self.block_breaks.push_back(True)
        self.block_start.push_back(count)
        self.join_texts()
        return 0

    cdef int tags_passed(self, int first, int stop) noexcept:
        """Return what the tags at these places do."""
        cdef int place, tag, kind, found = 0
        for place in range(first, stop):
            tag = self.passed[place]
            kind = self.tag_kinds[tag if tag >= 0 else ~tag]
            found |= (BEGINS if tag >= 0 else ENDS) | (STYLES if kind & STYLING else 0)
            found |= (PRICES if kind & PRICING else 0) | (0 if kind & (DIVIDING | STYLING) else OTHERS)
        return found

    cdef bint stand_apart(self, int i, int tags) except -1:
        """Whether markup sets a text apart from the one before it. The twin is `page.split.stand_apart`."""
        cdef str before = self.strings[i - 1], after = self.strings[i]
        cdef Py_UCS4 last = before[len(before) - 1], start = after[0]
        if not (start.isalnum() or start in u"$€£¥₹#@(") or last in u"-–(/'’":
            return False
        if last.isdecimal() and start in u"$€£¥₹" and len(after) > 1 and (<Py_UCS4>after[1]).isdecimal():
            return True
        if tags & ENDS and tags & BEGINS and tags & PRICES:
            return not (last.isalpha() and start.isalpha())
        if len(before) < 2 or len(after) < 2:
            return False
        cdef int first = self.texts_[i - 1].element, second = self.texts_[i].element
        cdef int around = first, left = -1, right = -1, element
        while around >= 0 and not around <= second < self.stop[around]:
            around = self.parent[around]
        element = first
        while element != around:
            if self.box(element):
                return True
            left, element = element, self.parent[element]
        element = second
        while element != around:
            if self.box(element):
                return True
            right, element = element, self.parent[element]
        if (left >= 0 or right >= 0) and around >= 0 and self.box(around) == 2:
            return True
        if left < 0 or right < 0 or self.element_tag[left] != self.element_tag[right]:
            return False
        cdef str names = self.attribute_of(left, CLASS)
        if not names or names != self.attribute_of(right, CLASS):
            return False
        if self.tag_names[self.element_tag[left]] == "a":
            if self.attribute_of(left, HREF) == self.attribute_of(right, HREF):
                return False
        elif last.isalpha() and start.islower():
            return False
        for element in (first, second):
            while element >= 0:
                if self.tag_kinds[self.element_tag[element]] & LISTING:
                    return False
                element = self.parent[element]
        return True

    cdef int box(self, int element) except -1:
        """Return what the style of an element makes of it. See `page.split.boxes`."""
        cdef str style = self.attribute_of(element, STYLE)
        return self.boxes(style) if style else 0

    cdef str attribute_of(self, int element, int kind):
        """Return the value of an attribute that `_KINDS` names, or None."""
        cdef size_t at, stop = self.attributes_.size()
        if element + 1 < <int>self.first_attribute.size():
            stop = self.first_attribute[element + 1]
        for at in range(self.first_attribute[element], stop):
            if self.attribute_kinds[self.attributes_[at].name] == kind:
                return self.value(self.attributes_[at])
        return None

    cdef int join_texts(self) except -1:
        cdef int block, first, stop, i, holder, element, length
        cdef str indent = "", joined
        cdef bint is_line
        for block in range(<int>self.block_start.size() - 1):
            first, stop = self.block_start[block], self.block_start[block + 1]
            holder = self.texts_[first].element
            self.piece_offset[first] = 0
            is_line = self.texts_[first].preformatted
            if stop == first + 1 and not is_line:
                joined = self.strings[first]
            else:
                joined = indent + self.indents[first] + self.strings[first] if is_line else self.strings[first]
                parts = [joined]
                length = len(joined)
                for i in range(first + 1, stop):
                    self.piece_offset[i] = length
                    part = self.strings[i]
                    if is_line:
                        if i < len(self.indents):
                            part = self.indents[i] + part
                    elif self.gaps[i]:
                        part = " " + part
                    parts.append(part)
                    length += len(part)
                    element = self.texts_[i].element
                    while holder >= 0 and not holder <= element < self.stop[holder]:
                        holder = self.parent[holder]
                joined = "".join(parts)
                if is_line:
                    stripped = joined.rstrip()
                    indent = "" if self.block_breaks[block] else joined[len(stripped):]
                    joined = stripped
            self.block_element.push_back(holder)
            self.texts.append(joined)
        self.strings = self.indents = None
        return 0

    cdef tuple tags_between(self, int start, int stop):
        cdef int place, tag
        cdef tuple names = PyTuple_New(stop - start)
        for place in range(start, stop):
            tag = self.passed[place]
            name = self.tag_names[tag] if tag >= 0 else self.closing_names[~tag]
            Py_INCREF(name)
            PyTuple_SET_ITEM(names, place - start, name)
        return names

    # A part of the page as a page of its own.

    def section(self, int first, int stop):
        """Return the blocks from `first` to before `stop` as a page of their own. Twin of `page.sections.section`."""
        if not 0 <= first < stop <= len(self.texts):
            raise IndexError(f"the page has no blocks {first} to {stop}")
        cdef Page part = Page.__new__(Page)
        cdef int begin = self.elements_before(first) if first else 0, end = self.elements_before(stop + 1)
        cdef int start = self.block_start[first], last = self.block_start[stop]
        cdef int tags = self.texts_[start - 1].place if start else 0
        cdef int element, i, k, elements = <int>self.element_tag.size()
        cdef vector[int] kept
        cdef Text text
        for element in (self.texts_[start].element, begin if begin < end else -1):
            while element >= 0:
                if element < begin:
                    kept.push_back(element)
                element = self.parent[element]
        sort(kept.begin(), kept.end())
        kept.resize(unique(kept.begin(), kept.end()) - kept.begin())
        cdef int around = <int>kept.size()
        for element in range(begin, end):
            kept.push_back(element)
        part.every, part.tag_numbers, part.tag_names = self.every, self.tag_numbers, self.tag_names
        part.closing_names, part.tag_kinds, part.attribute_names = self.closing_names, self.tag_kinds, self.attribute_names
        part.texts = self.texts[first:stop]
        for i in range(start, last):
            text = self.texts_[i]
            text.element = renumbered(kept, around, begin, text.element)
            text.place -= tags
            part.texts_.push_back(text)
            part.gaps.push_back(self.gaps[i])
            part.piece_offset.push_back(self.piece_offset[i])
        for i in range(tags, self.texts_[last - 1].place):
            part.passed.push_back(self.passed[i])
        for i in range(start, last + 1):
            part.blocks_started.push_back(self.blocks_started[i] - first)
        for i in range(first, stop):
            part.block_start.push_back(self.block_start[i] - start)
            part.block_element.push_back(renumbered(kept, around, begin, self.block_element[i]))
        part.block_start.push_back(last - start)
        for element in kept:
            part.element_tag.push_back(self.element_tag[element])
            part.parent.push_back(renumbered(kept, around, begin, self.parent[element]))
            part.stop.push_back(renumbered(kept, around, begin, min(self.stop[element], end)))
            part.first_text.push_back(min(max(self.first_text[element] - start, 0), last - start))
            part.stop_text.push_back(min(max(self.stop_text[element] - start, 0), last - start))
            part.element_hidden.push_back(self.element_hidden[element])
            part.first_attribute.push_back(<int>part.attributes_.size())
            i = self.first_attribute[element]
            for k in range(i, self.first_attribute[element + 1] if element + 1 < elements else <int>self.attributes_.size()):
                part.attributes_.push_back(self.attributes_[k])
                part.attributes_.back().start = part.values.size()
                part.values.append(self.values.data() + self.attributes_[k].start, self.attributes_[k].length)
        part.element_hidden.push_back(0)
        return part

    cdef int elements_before(self, int block):
        """Return the number of elements that opened before the given number of blocks had started."""
        cdef int low = 0, high = <int>self.element_tag.size(), middle
        while low < high:
            middle = (low + high) // 2
            if self.blocks_started[self.first_text[middle]] < block:
                low = middle + 1
            else:
                high = middle
        return low

    # Results as Python objects.

    def __len__(self):
        return len(self.texts)

    def blocks(self, numbers=None):
        """Return the blocks with the given numbers, or all, as objects."""
        cdef int block, i, first, last, element, previous
        cdef int count = <int>self.block_element.size()
        cdef dict paths = {}, same = {}
        cdef list blocks = []
        cdef tuple pieces
        for block in range(count) if numbers is None else numbers:
            if not 0 <= block < count:
                raise IndexError(f"the page has no block {block}")
            first, last = self.block_start[block], self.block_start[block + 1]
            previous = self.texts_[first - 1].place if first else 0
            pieces = PyTuple_New(last - first)
            for i in range(first, last):
                tags = self.tags_between(previous, self.texts_[i].place)
                previous = self.texts_[i].place
                piece = named(Piece, (self.piece_offset[i], self.texts_[i].element, tags))
                Py_INCREF(piece)
                PyTuple_SET_ITEM(pieces, i - first, piece)
            element = self.block_element[block]
            blocks.append(named(Block, (
                block, self.texts[block], element, self.path(element, paths, same), (<tuple>pieces[0])[2],
                self.gaps[first] != 0,
                self.element_hidden[element if element >= 0 else <int>self.element_tag.size()] != 0, pieces,
            )))
        return tuple(blocks)

    cdef tuple path(self, int element, dict paths, dict same):
        """Return the tags from the outermost element to an element.

        `paths` has those that were asked for before, by parent and tag. Equal paths are one object, which `same` has.
        """
        if element < 0:
            return ()
        key = <long long>self.parent[element] * <long long>self.tag_kinds.size() + self.element_tag[element]
        path = paths.get(key)
        if path is None:
            names = []
            while element >= 0:
                names.append(self.tag_names[self.element_tag[element]])
                element = self.parent[element]
            names.reverse()
            path = tuple(names)
            path = paths[key] = same.setdefault(path, path)
        return path

    def create(self, str field):
        """Return the value of a field of `Document` or `Elements`."""
        if field == "blocks":
            return self.blocks()
        if field == "elements":
            return Elements.from_arrays(self)
        if field == "tag":
            return [self.tag_names[tag] for tag in self.element_tag]
        if field == "parent":
            return self.parent
        if field == "attributes":
            return self.attributes()
        if field == "stop":
            return self.stop
        if field == "first_block":
            return [self.blocks_started[texts] for texts in self.first_text]
        if field == "stop_block":
            return [self.blocks_started[texts] for texts in self.stop_text]
        raise AttributeError(field)

    def attributes(self):
        """Return the kept attributes of each element."""
        cdef int i, count = <int>self.element_tag.size()
        cdef size_t first, stop
        none = {}
        attributes = []
        for i in range(count):
            first = self.first_attribute[i]
            stop = self.first_attribute[i + 1] if i + 1 < count else self.attributes_.size()
            attributes.append(none if first == stop else {
                self.attribute_names[self.attributes_[k].name]: self.value(self.attributes_[k])
                for k in range(first, stop)
            })
        return attributes

    def attributes_of(self, int element):
        """Return the kept attributes of an element."""
        cdef int count = <int>self.element_tag.size()
        if not 0 <= element < count:
            raise IndexError(f"the page has no element {element}")
        cdef size_t last = self.first_attribute[element + 1] if element + 1 < count else self.attributes_.size()
        return {
            self.attribute_names[self.attributes_[i].name]: self.value(self.attributes_[i])
            for i in range(self.first_attribute[element], last)
        }

    def mentioning(self, elements, str attribute, words):
        """Return the elements whose attribute contains one of the words, whatever the case of its letters."""
        cdef int name, element, count = <int>self.element_tag.size()
        cdef vector[int] numbers
        cdef size_t i, last
        cdef vector[char] is_seen
        cdef Words wanted
        cdef list found = []
        if attribute not in self.attribute_names:
            return found
        name = self.attribute_names.index(attribute)
        read_words(words, &wanted)
        is_seen.resize(count)
        if elements is None:
            numbers.resize(count)
            iota(numbers.begin(), numbers.end(), 0)
        else:
            numbers = elements
        for element in numbers:
            if not 0 <= element < count:
                raise IndexError(f"the page has no element {element}")
            if is_seen[element]:
                continue
            is_seen[element] = True
            last = self.first_attribute[element + 1] if element + 1 < count else self.attributes_.size()
            for i in range(self.first_attribute[element], last):
                if self.attributes_[i].name == name and mentions(
                    self.values.data() + self.attributes_[i].start, self.attributes_[i].length, &wanted
                ):
                    found.append(element)
                    break
        return found

    def ancestor(self, int element, tags):
        """Return the innermost element with one of the tags, or -1. Twin of `Elements.ancestor`."""
        cdef vector[int] wanted
        if element >= <int>self.element_tag.size():
            raise IndexError(f"the page has no element {element}")
        for tag in tags:
            number = self.tag_numbers.get(tag)
            if number is not None:
                wanted.push_back(number)
        while element >= 0 and find(wanted.begin(), wanted.end(), self.element_tag[element]) == wanted.end():
            element = self.parent[element]
        return element

    def innermost(self, tags, others):
        """Return the innermost of some elements around each element, or itself. Twin of `Elements.innermost`."""
        cdef int element, count = <int>self.element_tag.size()
        cdef vector[char] is_wanted
        cdef vector[int] found
        is_wanted.resize(self.tag_kinds.size(), 0)
        for tag in tags:
            if tag in self.tag_numbers:
                is_wanted[self.tag_numbers[tag]] = True
        found.resize(count, -1)
        for element in others:
            if not 0 <= element < count:
                raise IndexError(f"the page has no element {element}")
            found[element] = element
        for element in range(count):
            if is_wanted[self.element_tag[element]]:
                found[element] = element
            elif found[element] < 0 and self.parent[element] >= 0:
                found[element] = found[self.parent[element]]
        return found

    def elements_by(self, str attribute):
        """Return the elements with each value of an attribute."""
        cdef int element, name, count = <int>self.element_tag.size()
        cdef size_t i, last
        cdef dict found = {}
        cdef str value
        if attribute not in self.attribute_names:
            return found
        name = self.attribute_names.index(attribute)
        for element in range(count):
            last = self.first_attribute[element + 1] if element + 1 < count else self.attributes_.size()
            for i in range(self.first_attribute[element], last):
                if self.attributes_[i].name == name:
                    value = self.value(self.attributes_[i])
                    if value in found:
                        (<list>found[value]).append(element)
                    else:
                        found[value] = [element]
        return found

    def around(self, blocks, elements):
        """Return the elements around the texts of some blocks and around some elements. Twin of `Document.around`."""
        cdef int block, i, element, count = <int>self.element_tag.size()
        cdef vector[int] inside = elements
        cdef vector[char] is_around
        for block in blocks:
            if not 0 <= block < <int>self.block_element.size():
                raise IndexError(f"the page has no block {block}")
            for i in range(self.block_start[block], self.block_start[block + 1]):
                inside.push_back(self.texts_[i].element)
        is_around.resize(count)
        for element in inside:
            if element >= count:
                raise IndexError(f"the page has no element {element}")
            while element >= 0 and not is_around[element]:
                is_around[element] = True
                element = self.parent[element]
        return [element for element in range(count) if is_around[element]]

    @property
    def block_elements(self):
        """The element of each block."""
        return self.block_element

    def has_tag(self, str tag):
        """Whether the page has an element with a tag."""
        number = self.tag_numbers.get(tag)
        return number is not None and self.tag_kinds[number] & USED != 0

    @property
    def trailing(self):
        """The tags after the last block."""
        cdef int last = self.texts_.back().place if self.texts_.size() else 0
        return self.tags_between(last, <int>self.passed.size())


cdef object named(type kind, tuple values):
    """Return a named tuple. Faster than calling its class."""
    cdef Py_ssize_t i
    made = (<PyTypeObject *>kind).tp_alloc(kind, len(values))
    for i in range(len(values)):
        value = values[i]
        Py_INCREF(value)
        PyTuple_SET_ITEM(made, i, value)
    return made


cdef int renumbered(vector[int] &kept, int around, int begin, int element):
    """Return the number of an element in a section: those around the section come first, then those after `begin`."""
    if element < 0:
        return -1
    if element >= begin:
        return element - begin + around
    return <int>(lower_bound(kept.begin(), kept.begin() + around, element) - kept.begin())


cdef str collapsed(const char *data, size_t size, size_t length):
    """Return ASCII text with one space for each run of white space inside it."""
    text = PyUnicode_New(length, 127)
    cdef char *out = <char *>PyUnicode_DATA(text)
    cdef size_t i, at = 0
    cdef bint pending = False
    for i in range(size):
        if is_white(data[i]):
            pending = at > 0
        else:
            if pending:
                out[at] = 32
                at += 1
                pending = False
            out[at] = data[i]
            at += 1
    return <str>text


def split_tree(
    _Element root not None, object cuts, object void_tags, dividing, delete, unwrap, int deepest, size_t most_tags, hides,
    boxes, clean_tag, lines_of,
):
    """Split a parsed page into blocks. Raises OverflowError if it has more than `most_tags` tags."""
    if root._c_node == NULL:
        raise ValueError("the root has no node")
    page = Page(cuts, void_tags, dividing, delete, unwrap, deepest, most_tags, hides, boxes, clean_tag, lines_of)
    page.walk(root)
    page.make_blocks()
    return page


def elements_mentioning(_Element root not None, attributes, words):
    """Return the elements of a tree with one of the words in one of the attributes, whatever the case of its letters.

    Twin of `Page.marked` in description/metadata/page.py, which gives the words in lower case.
    """
    cdef vector[string] names = [name.encode() for name in attributes]
    cdef Words wanted
    cdef tree.xmlNode *node = root._c_node
    cdef tree.xmlNode *value
    cdef tree.xmlAttr *attribute
    cdef string joined
    cdef list found = []
    cdef bint is_found
    read_words(words, &wanted)
    while node != NULL:
        is_found = False
        attribute = node.properties if node.type == tree.XML_ELEMENT_NODE else NULL
        while attribute != NULL and not is_found:
            if attribute.ns == NULL and is_one_of(<const char *>attribute.name, names):
                joined.clear()
                value = attribute.children
                while value != NULL:
                    if value.content != NULL:
                        joined.append(<const char *>value.content)
                    value = value.next
                is_found = mentions(joined.data(), joined.size(), &wanted)
            attribute = attribute.next
        if is_found:
            found.append(elementFactory(root._doc, node))
        if node.type == tree.XML_ELEMENT_NODE and node.children != NULL:
            node = node.children
            continue
        while node != root._c_node and node.next == NULL:
            node = node.parent
        node = node.next if node != root._c_node else NULL
    return found


cdef struct Words:
    string[MOST_WORDS] texts
    uint64_t[256] first, second  # for each byte, the words that have it there, as bits


cdef int read_words(words, Words *wanted) except -1:
    """Copy the words to search for."""
    cdef int number, code
    cdef const unsigned char *text
    memset(wanted.first, 0, sizeof(wanted.first))
    memset(wanted.second, 0, sizeof(wanted.second))
    for number, word in enumerate(words):
        if number >= MOST_WORDS or not word:
            raise ValueError("too many words, or an empty word")
        wanted.texts[number] = word.encode()
        text = <const unsigned char *>wanted.texts[number].data()
        wanted.first[text[0]] |= 1ULL << number
        wanted.second[text[1]] |= 1ULL << number
        for code in range(256 if wanted.texts[number].size() == 1 else 0):
            wanted.second[code] |= 1ULL << number
    return 0


cdef bint is_one_of(const char *name, vector[string] &names) noexcept:
    cdef size_t number
    for number in range(names.size()):
        if name[0] == names[number][0] and names[number].compare(name) == 0:
            return True
    return False


cdef inline unsigned char in_lower_case(unsigned char code) noexcept nogil:
    return code | 32 if b"A" <= code <= b"Z" else code


cdef bint mentions(const char *text, size_t size, Words *words) noexcept:
    """Whether a text contains one of the words, which are in lower case, whatever the case of its letters."""
    cdef const unsigned char *codes = <const unsigned char *>text
    cdef unsigned char here, following = in_lower_case(codes[0]) if size else 0
    cdef uint64_t candidates
    cdef size_t at, i, length
    cdef int number
    for at in range(1, size + 1):
        here, following = following, in_lower_case(codes[at]) if at < size else 0
        candidates = words.first[here] & words.second[following]
        number = 0
        while candidates:
            if candidates & 1:
                i, length = 1, words.texts[number].size()
                while i < length and at - 1 + i < size and in_lower_case(codes[at - 1 + i]) == <unsigned char>words.texts[number][i]:
                    i += 1
                if i == length:
                    return True
            candidates >>= 1
            number += 1
    return False


def check_layout():
    """Raise ValueError if libxml2's nodes are not laid out as in the headers that this module was compiled with.

    Only pointers inside the nodes that lxml gives are compared, so that a wrong layout does no harm.
    """
    cdef int compiled = tree.LIBXML_VERSION // 10_000, running = etree.LIBXML_VERSION[0]
    cdef _Element outer = etree.fromstring("<a><b c='d'/><e/></a>")
    cdef _Element first = outer[0], second = outer[1]
    cdef tree.xmlNode *a = outer._c_node
    cdef tree.xmlNode *b = first._c_node
    cdef tree.xmlNode *e = second._c_node
    cdef tree.xmlAttr *c = NULL
    cdef bint fits = (
        compiled == running and a.type == tree.XML_ELEMENT_NODE and a.children == b and a.last == e
        and b.parent == a and b.next == e and e.prev == b and b.children == NULL and e.next == NULL
        and a.doc != NULL and a.doc == b.doc and b.ns == NULL and b.content == NULL
        and b.properties != NULL and e.properties == NULL
    )
    if fits:
        c = b.properties
        fits = c.type == tree.XML_ATTRIBUTE_NODE and c.parent == b and c.doc == a.doc and c.next == NULL
    if not fits:
        version = ".".join(map(str, etree.LIBXML_VERSION))
        raise ValueError(f"compiled with libxml2 {tree.LIBXML_VERSION}, running with {version}")


check_layout()
