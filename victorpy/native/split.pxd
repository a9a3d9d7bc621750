"""Declares `Page`, so that other modules of the core can read its arrays."""

from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector
from lxml.includes cimport tree
from lxml.includes.etreepublic cimport _Element

cdef struct Text:
    int element
    int place          # number of tags before it
    bint gap           # whether white space precedes it
    bint cut           # whether it starts a block whatever the tags are
    bint preformatted
    bint begins_white
    bint ends_white

cdef enum:
    SLOTS = 256

cdef struct Known:  # the number of the name at an address
    size_t address
    int number

cdef struct Attribute:
    int name
    size_t start
    size_t length


cdef class Page:
    # The rules: see `Cuts` and page/split.py.
    cdef bint every
    cdef int deepest
    cdef size_t most_tags
    cdef object block_level, kept_attributes, void_tags, dividing_tags, deleted_tags, unwrapped_tags, hides, boxes, clean_tag, lines_of
    # Tags by number. Addresses are those of names in libxml2's dictionary.
    cdef dict tag_numbers
    cdef list tag_names, closing_names
    cdef vector[int] tag_kinds
    cdef unordered_map[size_t, int] tag_at
    cdef Known[SLOTS] known_tags  # some of the pairs in `tag_at`
    # Names of kept attributes by number, and numbers by address: -1 where an attribute is not kept.
    cdef list attribute_names
    cdef unordered_map[size_t, int] attribute_at
    cdef Known[SLOTS] known_attributes
    cdef vector[char] attribute_kinds
    # Texts, and the tags passed: the number of an opening tag, the complement of a closing one.
    cdef list strings, indents
    cdef vector[Text] texts_
    cdef vector[int] passed
    # Elements. The values of attributes are in `values`.
    cdef vector[int] element_tag, parent, stop, first_text, stop_text
    cdef vector[int] first_attribute
    cdef vector[Attribute] attributes_
    cdef string values
    # Open elements.
    cdef vector[int] open_tags, numbers
    cdef int too_deep, preformatted
    cdef bint special, hidden, gap, cut
    cdef vector[int] hiding, hiding_tags
    cdef str indent
    cdef string buffer
    # Blocks.
    cdef vector[int] block_start, block_element
    cdef vector[char] block_breaks, gaps, element_hidden
    cdef vector[int] piece_offset
    cdef vector[int] blocks_started  # by number of texts
    cdef readonly list texts

    cdef int tag_number(self, tree.xmlNode *node) except -1
    cdef int find_tag(self, tree.xmlNode *node) except -1
    cdef int number_of(self, str name) except -1
    cdef int find_attribute(self, tree.xmlAttr *attribute) except -2
    cdef bint may_hide(self, Attribute attribute) noexcept
    cdef bint read_attributes(self, tree.xmlNode *node) except -1
    cdef str value(self, Attribute attribute)
    cdef dict last_attributes(self, size_t first)
    cdef int walk(self, _Element root) except -1
    cdef tree.xmlNode *real_parent(self, tree.xmlNode *node, tree.xmlNode *top) except NULL
    cdef tree.xmlNode *following(self, tree.xmlNode *node, tree.xmlNode *top) except? NULL
    cdef tree.xmlNode *add_texts(self, tree.xmlNode *node, tree.xmlNode *top) except? NULL
    cdef int start(self, int tag, tree.xmlNode *node) except -1
    cdef int start_special(self, int tag, size_t first, bint may_hide) except -1
    cdef int end(self) except -1
    cdef int add(self, str text, bint gap, bint cut, bint begins_white, bint ends_white) except -1
    cdef int add_text(self, const char *data, size_t size) except -1
    cdef int add_lines(self, str text) except -1
    cdef int make_blocks(self) except -1
    cdef int tags_passed(self, int first, int stop) noexcept
    cdef bint stand_apart(self, int i, int tags) except -1
    cdef int box(self, int element) except -1
    cdef str attribute_of(self, int element, int kind)
    cdef int join_texts(self) except -1
    cdef int elements_before(self, int block)
    cdef tuple tags_between(self, int start, int stop)
    cdef tuple path(self, int element, dict paths, dict same)
