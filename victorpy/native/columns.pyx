# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""The native twin of columns/: fills the arrays of a page in one pass over its text and one over its elements.

`page_columns` returns values for properties of `Columns` under their own names. The properties define them.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy
from libcpp.algorithm cimport binary_search, sort
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from victorpy.native.split cimport Attribute, Page

import os

import numpy as np

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t index)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4 code)
    object PyUnicode_DecodeUTF8(const char *text, Py_ssize_t size, const char *errors)
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

# Flags of characters, as in base/unicode.py.
cdef enum:
    LETTER = 1
    UPPER = 2
    LOWER = 4
    DIGIT = 8
    PUNCTUATION = 16
    SPACE = 32
    UNSPACED = 64
    END = 128
    IDEOGRAPHIC = 0x3000
    CODE_POINTS = 0x110000

# Constants of columns/: NEAR, HIGHEST, FARTHEST + 1, REACHES, the longest token and the bits of tags.
cdef int[6] REACHES = [1, 2, 3, 5, 12, 25]
cdef enum:
    HIGHEST = 6
    WINDOWS = 6
    NEAR = 8
    LEVELS = 9
    LONGEST = 64
    BITS = 64

cdef uint64_t[LONGEST] POWERS
cdef int _power
POWERS[0] = 0x100000001B3ULL
for _power in range(1, LONGEST):
    POWERS[_power] = POWERS[_power - 1] * 0x100000001B3ULL

_NAMING = ("class", "id", "role", "itemprop")


cdef inline uint64_t spread(uint32_t code) noexcept nogil:
    cdef uint64_t product = code * 0x9E3779B97F4A7C15ULL
    return product ^ (product >> 29)

cdef uint64_t SECRET = int.from_bytes(os.urandom(8), "little")
cdef uint64_t[128] SPREAD  # of ASCII
cdef int _code
for _code in range(128):
    SPREAD[_code] = spread(_code)


cdef inline uint64_t mix(uint32_t code, int rank) noexcept nogil:
    return (SPREAD[code] if code < 128 else spread(code)) * POWERS[rank if rank < LONGEST else LONGEST - 1]


cdef inline uint32_t lower_of(uint32_t code, int kind, void *folded, Py_ssize_t at) noexcept:
    """Return a character in lower case, from the folded text if there is one."""
    if folded != NULL:
        return PyUnicode_READ(kind, folded, at)
    return code | 32 if b"A" <= code <= b"Z" else code if code < 128 else Py_UNICODE_TOLOWER(code)


cdef str fold_if_needed(str text):
    """Return `fold(text)`, or None if every character has a lower case of its own, whatever is around it."""
    return None if text.isascii() or not ("\u03a3" in text or "\u0130" in text) else fold(text)


cdef str fold(str text):
    """Return a text in lower case with the same number of characters."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.replace("İ", "I").lower()
        if len(lower) != len(text):  # the loops below rely on it
            raise ValueError("a text in lower case has a different length")
    return lower


def page_columns(
    Page page not None, const uint8_t[::1] flags not None, str title not None, str closing not None, Sums
):
    """Return the arrays of a page by the names of the properties of `Columns`."""
    if flags.shape[0] < CODE_POINTS:
        raise ValueError("the table of characters is too short")
    columns = element_columns(page)
    piece_block, piece_element = columns["_pieces"]
    text, piece_start = text_columns(page, flags, title, closing, columns["_piece_in_link"])
    columns["_pieces"] = piece_block, piece_start, piece_element
    columns |= text
    columns |= name_columns(page, flags, columns["ancestors"], columns["element"])
    columns |= range_columns(columns, Sums)
    columns |= look_columns(columns, Sums)
    columns |= headline_columns(columns)
    return columns


cdef dict element_columns(Page page):
    cdef int count = <int>page.block_element.size(), elements = <int>page.element_tag.size()
    cdef int i, k, tag, level, at, place, previous, pieces = <int>page.texts_.size()
    cdef bint has_blocks
    # Tags are numbered by their first elements.
    cdef vector[int] number_of_tag
    cdef int tags = 0
    number_of_tag.resize(len(page.tag_names), -1)
    numbers = {}
    cdef int64_t[:, ::1] of_element = np.empty((6, elements), dtype=np.int64)
    cdef int link = page.tag_numbers.get("a", -1)
    cdef vector[int] depth
    cdef vector[uint64_t] bits, block_bits
    cdef vector[char] in_link
    cdef vector[int] tag_starts
    cdef int64_t[::1] by_tag = np.empty(elements, dtype=np.int64)
    depth.resize(elements + 1)
    bits.resize(elements + 1)
    in_link.resize(elements + 1)
    block_bits.resize(count)
    for i in range(elements):
        tag = page.element_tag[i]
        if number_of_tag[tag] < 0:
            number_of_tag[tag] = tags
            numbers[page.tag_names[tag]] = tags
            tags += 1
        k = page.parent[i]
        of_element[0, i] = k
        of_element[1, i] = page.stop[i]
        of_element[2, i] = number_of_tag[tag]
        of_element[3, i] = page.blocks_started[page.first_text[i]]
        of_element[4, i] = page.blocks_started[page.stop_text[i]]
        of_element[5, i] = k if k >= 0 else i
        depth[i] = (depth[k] if k >= 0 else 0) + 1
        bits[i] = (bits[k] if k >= 0 else 0) | (1ULL << number_of_tag[tag] if number_of_tag[tag] < BITS else 0)
        in_link[i] = (k >= 0 and in_link[k]) or tag == link
    # Elements in the order of their tags.
    tag_starts.resize(tags + 1)
    for i in range(elements):
        tag_starts[of_element[2, i] + 1] += 1
    for tag in range(tags):
        tag_starts[tag + 1] += tag_starts[tag]
    starts = [tag_starts[tag] for tag in range(tags + 1)]
    for i in range(elements):
        by_tag[tag_starts[of_element[2, i]]] = i
        tag_starts[of_element[2, i]] += 1
    # Blocks and their ancestors.
    cdef int64_t[::1] element = np.empty(count, dtype=np.int64), depths = np.empty(count, dtype=np.int64)
    cdef int64_t[:, ::1] ancestors = np.empty((LEVELS, count), dtype=np.int64)
    cdef uint8_t[:, ::1] around = np.zeros((BITS, count), dtype=np.uint8)
    cdef uint8_t[::1] hidden = np.empty(count, dtype=np.uint8)
    for i in range(count):
        k = page.block_element[i]
        depths[i] = depth[k] if k >= 0 else 0
        hidden[i] = page.element_hidden[k if k >= 0 else elements]
        k = k if k >= 0 else 0
        element[i] = k
        block_bits[i] = bits[k]
        for level in range(LEVELS):
            ancestors[level, i] = k
            k = <int>of_element[5, k]
    for tag in range(tags if tags < BITS else BITS):
        for i in range(count):
            around[tag, i] = (block_bits[i] >> tag) & 1
    # Blocks of which an element contains only a part are not in its range.
    for i in range(elements if count else 0):
        has_blocks = of_element[3, i] < of_element[4, i]
        if has_blocks:
            k = <int>element[of_element[3, i]]
            of_element[3, i] += not i <= k < of_element[1, i]
        has_blocks = of_element[3, i] < of_element[4, i]
        if has_blocks:
            k = <int>element[of_element[4, i] - 1]
            of_element[4, i] -= not i <= k < of_element[1, i]
    # Pieces, and the tags between blocks.
    cdef int64_t[:, ::1] of_piece = np.empty((2, pieces), dtype=np.int64)
    cdef uint8_t[::1] piece_in_link = np.empty(pieces, dtype=np.uint8)
    for i in range(pieces):
        k = page.texts_[i].element
        of_piece[0, i] = page.blocks_started[i + 1] - 1
        of_piece[1, i] = k if k >= 0 else 0
        piece_in_link[i] = in_link[of_piece[1, i]] if elements else 0
    cdef vector[int64_t] passed_tags, passed_owners
    previous = 0
    for i in range(count):
        for place in range(previous, page.texts_[page.block_start[i]].place):
            tag = page.passed[place]
            passed_tags.push_back(number_of_tag[tag if tag >= 0 else ~tag])
            passed_owners.push_back(i)
        previous = page.texts_[page.block_start[i + 1] - 1].place
    by_element, by_piece = of_element.base, of_piece.base
    return {
        "parent": by_element[0],
        "stop": by_element[1],
        "_tag_of_element": by_element[2],
        "_elements_by_tag": (by_tag.base, starts),
        "block_range": (by_element[3], by_element[4]),
        "_parent_or_self": by_element[5],
        "_tag_numbers": numbers,
        "element": element.base,
        "depth": depths.base,
        "hidden": hidden.base.view(bool),
        "ancestors": ancestors.base,
        "_tags_around": around.base.view(bool),
        "_passed_tags": (array_of(passed_tags), array_of(passed_owners)),
        "_piece_in_link": piece_in_link.base.view(bool),
        "_pieces": (by_piece[0], by_piece[1]),
    }


cdef object array_of(vector[int64_t] &values):
    result = np.empty(values.size(), dtype=np.int64)
    cdef int64_t[::1] view = result
    if values.size():
        memcpy(&view[0], values.data(), values.size() * sizeof(int64_t))
    return result


cdef object hashes_of(vector[uint64_t] &values):
    result = np.empty(values.size(), dtype=np.uint64)
    cdef uint64_t[::1] view = result
    if values.size():
        memcpy(&view[0], values.data(), values.size() * sizeof(uint64_t))
    return result


cdef object summed(object Sums, sums, blocks):
    """Return `Sums` with the quotients that `divide` has added."""
    result = Sums(sums[0], sums[1], blocks)
    result.__dict__["link_share"], result.__dict__["block_words"] = sums[2], sums[3]
    return result


cdef inline void divide(double[:, :, ::1] sums, Py_ssize_t row, Py_ssize_t block, int64_t blocks) noexcept nogil:
    """Add the share of words in links and the words per block to sums."""
    sums[2, row, block] = sums[1, row, block] / (sums[0, row, block] if sums[0, row, block] > 1 else 1)
    sums[3, row, block] = sums[0, row, block] / (blocks if blocks > 1 else 1)


cdef dict range_columns(dict columns, object Sums):
    """Sum up the words of windows around blocks and of their ancestors, and find the trunk."""
    cdef const double[::1] words = columns["words"], link_words = columns["link_words"]
    cdef const int64_t[::1] first_block = columns["block_range"][0], stop_block = columns["block_range"][1]
    cdef const int64_t[::1] parent = columns["parent"], last = columns["stop"]
    cdef const int64_t[:, ::1] ancestors = columns["ancestors"]
    cdef Py_ssize_t count = words.shape[0], elements = parent.shape[0], i, row, element, trunk = 0, level
    cdef int64_t first, stop
    cdef double plain, weight
    cdef double[:, ::1] total = np.zeros((2, count + 1))
    cdef double[:, :, ::1] in_ancestor = np.empty((4, HIGHEST + 1, count)), in_window = np.empty((4, WINDOWS, count))
    cdef int64_t[:, :, ::1] ancestor_blocks = np.empty((3, HIGHEST + 1, count), dtype=np.int64)
    cdef int64_t[:, ::1] window_blocks = np.empty((WINDOWS, count), dtype=np.int64)
    cdef int64_t[:, ::1] ancestor_children = np.empty((HIGHEST + 1, count), dtype=np.int64)
    cdef double[::1] levels_to_trunk = np.empty(count), prose = np.empty(count)
    cdef double[::1] words_after = np.empty(count), position = np.empty(count)
    cdef double[:, ::1] page_totals = np.empty((6, count))
    cdef double[6] values
    cdef double all_prose = 0
    cdef vector[double] near, far
    cdef vector[int64_t] children
    children.resize(elements)
    near.resize(elements)
    far.resize(elements)
    for i in range(elements):
        if parent[i] >= 0:
            children[parent[i]] += 1
    for i in range(count):
        total[0, i + 1] = total[0, i] + words[i]
        total[1, i + 1] = total[1, i] + link_words[i]
        plain = words[i] - link_words[i]
        prose[i] = plain if plain >= 10 else 0
        all_prose += prose[i]
        weight = 0 if plain < 10 else 100 if plain > 100 else plain
        near[ancestors[1, i]] += weight
        far[ancestors[2, i]] += weight
    for i in range(count):
        for row in range(HIGHEST + 1):
            element = ancestors[row, i]
            first, stop = first_block[element], stop_block[element]
            in_ancestor[0, row, i] = total[0, stop] - total[0, first]
            in_ancestor[1, row, i] = total[1, stop] - total[1, first]
            ancestor_blocks[0, row, i], ancestor_blocks[1, row, i] = first, stop
            ancestor_blocks[2, row, i] = stop - first
            ancestor_children[row, i] = children[element]
            divide(in_ancestor, row, i, stop - first)
        for row in range(WINDOWS):
            first = i - REACHES[row] if i > REACHES[row] else 0
            stop = i + REACHES[row] + 1 if i + REACHES[row] + 1 < count else count
            in_window[0, row, i] = total[0, stop] - total[0, first]
            in_window[1, row, i] = total[1, stop] - total[1, first]
            window_blocks[row, i] = stop - first
            divide(in_window, row, i, stop - first)
    for i in range(elements):
        near[i] += 0.6 * far[i]
        if near[i] > near[trunk]:
            trunk = i
    for i in range(count):
        level = 0
        while level < LEVELS and not ancestors[level, i] <= trunk < last[ancestors[level, i]]:
            level += 1
        levels_to_trunk[i] = level
    ranges, totals = ancestor_blocks.base, total.base
    all_words = max(float(columns["words"].sum()), 1.0)
    first = first_block[trunk] if elements else 0
    stop = stop_block[trunk] if elements else 0
    in_trunk = total[0, stop] - total[0, first], total[1, stop] - total[1, first]
    for i in range(count):
        words_after[i] = total[0, count] - total[0, i + 1]
        position[i] = <double>i / max(count - 1, 1)
    values = [
        count, total[0, count], total[0, count] / max(count, 1), all_prose / all_words, total[1, count] / all_words,
        columns["named_share"],
    ]
    for row in range(6):
        for i in range(count):
            page_totals[row, i] = values[row]
    names = ("blocks", "words", "block-words", "prose-share", "link-share", "named-share")
    return {
        "prose": prose.base,
        "words_before": totals[0][:count],
        "words_after": words_after.base,
        "position": position.base,
        "totals": dict(zip(names, page_totals.base)),
        "_running_words": (totals[0], totals[1]),
        "ancestor_blocks": (ranges[0], ranges[1]),
        "ancestor_sums": summed(Sums, in_ancestor.base, ranges[2]),
        "ancestor_children": ancestor_children.base,
        "window_sums": summed(Sums, in_window.base, window_blocks.base),
        "all_words": all_words,
        "trunk": {
            "inside": levels_to_trunk.base,
            "words": np.full(count, in_trunk[0] / all_words),
            "link-share": np.full(count, in_trunk[1] / max(in_trunk[0], 1.0)),
        },
    }


cdef dict look_columns(dict columns, object Sums):
    """Number the looks of blocks in the order of their names, sum up their words, and count duplicates."""
    cdef const int64_t[::1] name = columns["near_names"][1], group = columns["_letter_group"]
    cdef const int64_t[::1] letters = columns["letters"]
    cdef const int64_t[:, ::1] ancestors = columns["ancestors"]
    cdef const double[::1] words = columns["words"], link_words = columns["link_words"]
    cdef Py_ssize_t count = words.shape[0], i
    cdef vector[pair[int64_t, int64_t]] pairs
    cdef int64_t number = -1
    cdef vector[int64_t] group_size
    cdef int64_t[::1] look = np.empty(count, dtype=np.int64), duplicates = np.empty(count, dtype=np.int64)
    cdef uint8_t[::1] is_first = np.zeros(count, dtype=np.uint8)
    cdef int64_t most = 1
    for i in range(name.shape[0]):
        most = max(most, name[i] + 1)
    for i in range(count):
        pairs.push_back(pair[int64_t, int64_t](name[ancestors[0, i]] * most + name[ancestors[1, i]], i))
    sort(pairs.begin(), pairs.end())
    for i in range(count):
        if i == 0 or pairs[i].first != pairs[i - 1].first:
            number += 1
        look[pairs[i].second] = number
    cdef double[:, ::1] sums = np.zeros((2, number + 1))
    cdef double[:, :, ::1] in_look = np.empty((4, 1, count))
    cdef int64_t[::1] sizes = np.zeros(number + 1, dtype=np.int64), look_blocks = np.empty(count, dtype=np.int64)
    group_size.resize(count)
    for i in range(count):
        sums[0, look[i]] += words[i]
        sums[1, look[i]] += link_words[i]
        sizes[look[i]] += 1
        is_first[i] = group_size[group[i]] == 0
        group_size[group[i]] += 1
    for i in range(count):
        in_look[0, 0, i], in_look[1, 0, i] = sums[0, look[i]], sums[1, look[i]]
        look_blocks[i] = sizes[look[i]]
        divide(in_look, 0, i, look_blocks[i])
        duplicates[i] = group_size[group[i]] if letters[i] else 0
        is_first[i] = is_first[i] and duplicates[i] > 1
    return {
        "look": look.base,
        "look_sums": summed(Sums, in_look.base[:, 0], look_blocks.base),
        "duplicates": duplicates.base,
        "first_duplicate": is_first.base.view(bool),
    }


cdef dict headline_columns(dict columns):
    """Find the block most like a headline."""
    cdef const double[::1] words = columns["words"], title_share = columns["title_share"]
    cdef const uint8_t[:, ::1] around = columns["_tags_around"].view(np.uint8)
    cdef Py_ssize_t count = words.shape[0], block, headline = 0
    cdef const double[::1] before = columns["_running_words"][0]
    cdef int64_t[::1] since = np.empty(count, dtype=np.int64)
    cdef double[::1] words_since = np.empty(count)
    cdef int[3] tags
    cdef int rank
    cdef double score, best = -1
    cdef bint in_first, in_second
    for rank, name in enumerate(("h1", "h2", "h3")):
        tags[rank] = columns["_tag_numbers"].get(name, -1)
        if tags[rank] >= BITS:
            return {}
    for block in range(count):
        in_first = tags[0] >= 0 and around[tags[0], block]
        in_second = (tags[1] >= 0 and around[tags[1], block]) or (tags[2] >= 0 and around[tags[2], block])
        score = title_share[block] * (words[block] if words[block] < 8 else 8) / 8
        score += 0.5 * in_first + 0.2 * in_second
        if words[block] > 40:
            score = 0
        if score > best:
            best, headline = score, block
    for block in range(count):
        since[block] = block - headline
        words_since[block] = before[block] - before[headline]
    return {"headline": headline, "since_headline": since.base, "words_since_headline": words_since.base}


cdef struct Counted:
    int64_t letters, capitals, digits, punctuation, white, sentences, link_characters, capitalised
    double words, link_words
    int64_t[4] tokens       # alpha, num, mix, other
    uint8_t first_flags     # of the first character that is not white space
    bint begins_sentence
    # What was read before the next character.
    uint8_t token_flags
    int unspaced            # letters of the token in scripts without spaces
    int rank                # characters of the word
    uint64_t hash_value
    bint in_word, in_token, is_blank, has_letter_or_digit
    char *spelling          # where to write the next letter: one byte in ASCII, otherwise a zero and four bytes


cdef inline void count_token(Counted *counted) noexcept nogil:
    cdef uint8_t flags = counted.token_flags
    cdef int kind = (0 if not flags & DIGIT else 2) if flags & LETTER else (1 if flags & DIGIT else 3)
    counted.tokens[kind] += counted.unspaced // 2 if counted.unspaced > 3 else 1
    counted.in_token = False


ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t


cdef int count_piece(
    const Char *text, Py_ssize_t start, Py_ssize_t stop, bint in_link, const uint8_t *flag_of, int lower_kind,
    void *lower, Counted *result, vector[uint64_t] &hashes
) except -1:
    """Count the characters of a piece, after those of earlier pieces of the block."""
    cdef Counted counted = result[0]
    cdef Py_ssize_t at
    cdef uint32_t code
    cdef uint8_t now, following
    cdef bint in_word, is_start
    cdef double weight
    for at in range(start, stop):
        code = text[at]
        now = flag_of[code]
        if counted.in_word and now == LETTER | LOWER and code < 128:  # most characters
            counted.letters += 1
            counted.token_flags |= now
            counted.spelling[0] = <char>code
            counted.spelling += 1
            counted.hash_value += mix(code, counted.rank)
            counted.rank += 1
            continue
        counted.letters += (now & LETTER) != 0
        counted.capitals += (now & UPPER) != 0
        counted.digits += (now & DIGIT) != 0
        counted.punctuation += (now & PUNCTUATION) != 0
        if now & SPACE:
            counted.white += 1
            if counted.in_token:
                count_token(&counted)
        else:
            if not counted.in_token:
                if counted.is_blank:
                    counted.first_flags = now
                counted.is_blank = False
                counted.token_flags = counted.unspaced = 0
                counted.in_token = True
            counted.token_flags |= now
            counted.unspaced += (now & UNSPACED) != 0
        if now & LETTER:
            if code < 128:
                counted.spelling[0] = <char>code
                counted.spelling += 1
            else:
                counted.spelling[0] = 0
                memcpy(counted.spelling + 1, &code, sizeof(uint32_t))
                counted.spelling += 1 + sizeof(uint32_t)
        if now & (LETTER | DIGIT) and not counted.has_letter_or_digit:
            counted.has_letter_or_digit = True
            counted.begins_sentence = not now & LOWER
        if now & END:
            following = flag_of[text[at + 1]]
            if not following & (LETTER | DIGIT | END) or (code >= IDEOGRAPHIC and not following & END):
                counted.sentences += 1
        in_word = now & (LETTER | DIGIT) and not now & UNSPACED
        is_start = in_word and not counted.in_word
        weight = is_start + 0.5 * ((now & UNSPACED) != 0)
        counted.words += weight
        counted.link_words += weight * in_link
        counted.capitalised += is_start and (now & UPPER) != 0
        if in_word or now & UNSPACED or not now:
            if counted.rank and not (in_word and counted.in_word):
                hashes.push_back(counted.hash_value)
                counted.rank = 0
            if not counted.rank:
                counted.hash_value = 0
            code = 48 if now & DIGIT else lower_of(code, lower_kind, lower, at)
            counted.hash_value += mix(code, counted.rank)
            counted.rank += 1
        counted.in_word = in_word
    result[0] = counted
    return 0


cdef struct Groups:
    vector[int64_t] slots   # numbers of groups plus one, at places that their hashes determine
    vector[size_t] starts, ends
    vector[uint64_t] hashes


cdef int64_t group_of(Groups &groups, const char *texts, size_t start, size_t end) except -1:
    """Return the number of the group with the same spelling, or that of a new group.

    The hash depends on a secret number, so a page cannot contain texts chosen to have the same hash.
    """
    cdef size_t at = start, mask = groups.slots.size() - 1, slot
    cdef uint64_t hash_value = SECRET, eight
    cdef int64_t group
    while at < end:
        eight = 0
        memcpy(&eight, texts + at, min(<size_t>8, end - at))
        hash_value = (hash_value ^ eight) * 0x9E3779B97F4A7C15ULL
        hash_value = (hash_value ^ (hash_value >> 32)) * (SECRET | 1)
        at += 8
    slot = (hash_value >> 20) & mask
    while groups.slots[slot]:
        group = groups.slots[slot] - 1
        if groups.hashes[group] == hash_value and groups.ends[group] - groups.starts[group] == end - start and (
            memcmp(texts + groups.starts[group], texts + start, end - start) == 0
        ):
            return group
        slot = (slot + 1) & mask
    groups.slots[slot] = <int64_t>groups.ends.size() + 1
    groups.starts.push_back(start)
    groups.ends.push_back(end)
    groups.hashes.push_back(hash_value)
    return <int64_t>groups.ends.size() - 1


cdef tuple text_columns(
    Page page, const uint8_t[::1] flags, str title, str closing, in_link
):
    """Count the characters, words, tokens and sentences of each block, and hash its words."""
    cdef int count = <int>page.block_element.size(), pieces = <int>page.texts_.size()
    cdef int block, piece, last_piece, row
    cdef const uint8_t *flag_of = &flags[0]
    cdef str joined = "\n".join([*page.texts, ""])
    cdef str lower = fold_if_needed(joined)
    cdef int kind = PyUnicode_KIND(joined), lower_kind = 0 if lower is None else PyUnicode_KIND(lower)
    cdef void *data = PyUnicode_DATA(joined)
    cdef void *lower_data = NULL if lower is None else PyUnicode_DATA(lower)
    cdef Py_ssize_t at, start = 0, stop, begin, end
    cdef vector[uint64_t] hashes
    cdef vector[int64_t] owners
    cdef vector[char] spellings  # of the first block of each group
    cdef Groups groups
    cdef size_t spelled = 0
    cdef Counted counted
    cdef const uint8_t[::1] piece_in_link = in_link.view(np.uint8)
    by_block, all_words = np.empty((10, count), dtype=np.int64), np.empty((6, count))
    all_marks = np.empty((3, count), dtype=np.uint8)
    starts_and_groups = np.empty(pieces + count, dtype=np.int64)
    cdef int64_t[:, ::1] counts = by_block
    cdef double[:, ::1] words = all_words
    cdef uint8_t[:, ::1] marks = all_marks
    cdef int64_t[::1] piece_start = starts_and_groups[:pieces], letter_group = starts_and_groups[pieces:]
    groups.slots.resize(2)
    while groups.slots.size() < 2 * <size_t>count:
        groups.slots.resize(2 * groups.slots.size())
    for block in range(count):
        stop = start + PyUnicode_GET_LENGTH(page.texts[block])
        if spellings.size() < spelled + 5 * (stop - start):
            spellings.resize(2 * spellings.size() + 5 * (stop - start))
        counted = Counted(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, [0, 0, 0, 0], 0, False, 0, 0, 0, 0, False, False, True, False, spellings.data() + spelled)
        last_piece = page.block_start[block + 1] - 1
        for piece in range(page.block_start[block], last_piece + 1):
            piece_start[piece] = begin = start + page.piece_offset[piece]
            end = start + page.piece_offset[piece + 1] if piece < last_piece else stop
            if piece_in_link[piece]:
                counted.link_characters += end - begin
            if kind == 1:
                count_piece[uint8_t](
                    <uint8_t *>data, begin, end, piece_in_link[piece], flag_of, lower_kind, lower_data, &counted, hashes
                )
            elif kind == 2:
                count_piece[uint16_t](
                    <uint16_t *>data, begin, end, piece_in_link[piece], flag_of, lower_kind, lower_data, &counted, hashes
                )
            else:
                count_piece[uint32_t](
                    <uint32_t *>data, begin, end, piece_in_link[piece], flag_of, lower_kind, lower_data, &counted, hashes
                )
        if counted.in_token:
            count_token(&counted)
        if counted.rank:
            hashes.push_back(counted.hash_value)
        owners.resize(hashes.size(), block)
        at = stop
        while at > start and PyUnicode_READ(kind, data, at - 1) in closing:
            at -= 1
        marks[0, block] = counted.first_flags
        marks[1, block] = counted.begins_sentence
        marks[2, block] = at > start and (flag_of[PyUnicode_READ(kind, data, at - 1)] & END) != 0
        counts[0, block] = stop - start
        counts[1, block] = counted.letters
        counts[2, block] = counted.capitals
        counts[3, block] = counted.digits
        counts[4, block] = counted.punctuation
        counts[5, block] = counted.white
        counts[6, block] = counted.sentences
        counts[7, block] = counted.link_characters
        counts[8, block] = counted.capitalised
        counts[9, block] = max(0, stop - start - counted.letters - counted.digits - counted.punctuation - counted.white)
        words[0, block] = counted.words
        words[1, block] = counted.link_words
        for row in range(4):
            words[2 + row, block] = counted.tokens[row]
        letter_group[block] = group_of(groups, spellings.data(), spelled, counted.spelling - spellings.data())
        if letter_group[block] + 1 == <int64_t>groups.ends.size():  # a new group
            spelled = groups.ends[letter_group[block]]
        start = stop + 1
    return {
        "texts": page.texts,
        "characters": {
            "alpha": by_block[1], "num": by_block[3], "punct": by_block[4], "white": by_block[5], "other": by_block[9],
        },
        "lengths": by_block[0],
        "letters": by_block[1],
        "capitals": by_block[2],
        "digits": by_block[3],
        "punctuation": by_block[4],
        "white": by_block[5],
        "sentences": by_block[6],
        "link_characters": by_block[7],
        "capitalised_share": by_block[8] / np.maximum(all_words[0], 1),
        "words": all_words[0],
        "link_words": all_words[1],
        "tokens": dict(zip(("alpha", "num", "mix", "other"), all_words[2:])),
        "_first_flags": all_marks[0],
        "begins_sentence": all_marks[1].view(bool),
        "ends_sentence": all_marks[2].view(bool),
        "_letter_group": starts_and_groups[pieces:],
        "word_tokens": (hashes_of(hashes), array_of(owners)),
        "title_share": title_share(hashes, owners, title, flag_of, count),
    }, starts_and_groups[:pieces]


cdef object title_share(
    vector[uint64_t] &hashes, vector[int64_t] &owners, str title, const uint8_t *flag_of, int count
):
    """Return the share of each block's words that are in the title."""
    cdef vector[uint64_t] in_title
    cdef uint64_t last_bits = 0
    result = np.zeros(count)
    cdef double[::1] shares = result
    cdef size_t i, first
    cdef Py_ssize_t known
    cdef str lower = fold(title)
    cdef int rank = 0
    cdef uint64_t hash_value = 0
    cdef bint in_word, was_in_word = False
    cdef Py_UCS4 code
    cdef uint8_t now
    for at, code in enumerate(title):
        now = flag_of[code]
        in_word = now & (LETTER | DIGIT) and not now & UNSPACED
        if rank and not (in_word and was_in_word):
            in_title.push_back(hash_value)
            rank = 0
        if in_word or now & UNSPACED or not now:
            hash_value = (hash_value if rank else 0) + mix(48 if now & DIGIT else lower[at], rank)
            rank += 1
        was_in_word = in_word
    if rank:
        in_title.push_back(hash_value)
    for i in range(in_title.size()):
        last_bits |= 1ULL << (in_title[i] & 63)
    sort(in_title.begin(), in_title.end())
    i = 0
    while i < hashes.size():
        first, known = i, 0
        while i < hashes.size() and owners[i] == owners[first]:
            if last_bits >> (hashes[i] & 63) & 1:  # most words are not in the title
                known += binary_search(in_title.begin(), in_title.end(), hashes[i])
            i += 1
        shares[owners[first]] = <double>known / (i - first)
    return result


cdef enum:
    RECENT = 256

cdef struct Naming:
    int element
    int[4] values  # the numbers of the attributes that name it, or -1


cdef bint same_values(Page page, int *values, int *others) noexcept:
    """Whether attributes have the same values."""
    cdef int k
    cdef Attribute one, other
    for k in range(4):
        if values[k] < 0 or others[k] < 0:
            if values[k] != others[k]:
                return False
            continue
        one, other = page.attributes_[values[k]], page.attributes_[others[k]]
        if one.length != other.length or memcmp(page.values.data() + one.start, page.values.data() + other.start, one.length):
            return False
    return True


cdef dict name_columns(Page page, const uint8_t[::1] flags, ancestors, element):
    """Name the elements up to `NEAR` levels above a block, and hash the parts of their names."""
    cdef int elements = <int>page.element_tag.size(), i, k, level
    cdef Py_ssize_t count = len(element), at, stop
    cdef int64_t[:, ::1] above = ancestors
    cdef vector[char] is_near
    cdef vector[int] naming, name_of_tag  # the name of elements without attributes
    cdef string key
    cdef Attribute attribute
    cdef int[4] values
    cdef Naming[RECENT] recent
    cdef Naming *known
    cdef size_t first, last, a, slot
    cdef dict numbers = {}
    cdef list names = []
    cdef string text  # all names, each after "<" and before a line break
    cdef size_t begin
    cdef vector[char] is_named
    cdef const char *tag
    cdef int64_t[::1] name_of_element = np.zeros(elements, dtype=np.int64)
    for i in range(RECENT):
        recent[i].element = -1
    is_near.resize(elements + 1, 0)
    is_near[0] = 1
    for level in range(NEAR):
        for at in range(count):
            is_near[above[level, at]] = 1
    name_of_tag.resize(len(page.tag_names), -1)
    naming.resize(len(page.attribute_names), -1)
    for i, name in enumerate(_NAMING):
        if name in page.attribute_names:
            naming[page.attribute_names.index(name)] = i
    for i in range(elements):
        if not is_near[i]:
            continue
        values[0] = values[1] = values[2] = values[3] = -1
        first = page.first_attribute[i]
        last = page.first_attribute[i + 1] if i + 1 < elements else page.attributes_.size()
        if first == last and name_of_tag[page.element_tag[i]] >= 0:
            name_of_element[i] = name_of_tag[page.element_tag[i]]
            continue
        for a in range(first, last):
            if naming[page.attributes_[a].name] >= 0:
                values[naming[page.attributes_[a].name]] = <int>a
        # Many elements have the names of an earlier one.
        slot = page.element_tag[i]
        for k in range(4):
            if values[k] >= 0:
                attribute = page.attributes_[values[k]]
                slot = 31 * slot + attribute.length
                if attribute.length:
                    slot += page.values[attribute.start] + page.values[attribute.start + attribute.length - 1]
        known = &recent[slot % RECENT]
        if known.element >= 0 and page.element_tag[known.element] == page.element_tag[i] and same_values(page, values, known.values):
            name_of_element[i] = name_of_element[known.element]
            continue
        known.element = i
        memcpy(known.values, values, sizeof(values))
        key.assign(<char *>&page.element_tag[i], sizeof(int))
        for k in range(4):
            if values[k] >= 0:
                attribute = page.attributes_[values[k]]
                key.append(<char *>&attribute.length, sizeof(size_t))
                key.append(page.values.data() + attribute.start, attribute.length)
            else:
                key.append(1, <char>-1)
        number = numbers.setdefault(PyBytes_FromStringAndSize(key.data(), key.size()), len(numbers))
        name_of_element[i] = number
        if first == last:
            name_of_tag[page.element_tag[i]] = number
        if number == len(names):
            tag = PyUnicode_AsUTF8AndSize(page.tag_names[page.element_tag[i]], &at)
            text.push_back(b"<")
            begin = text.size()
            text.append(tag, at)
            for k in range(4):
                if values[k] >= 0 and page.attributes_[values[k]].length:
                    text.push_back(b" ")
                    text.append(page.values.data() + page.attributes_[values[k]].start, page.attributes_[values[k]].length)
            is_named.push_back(0)
            for a in range(begin, text.size()):
                if text[a] == b"\n":
                    text[a] = b" "
                if text[a] == b" ":
                    is_named[is_named.size() - 1] = 1
            names.append(PyUnicode_DecodeUTF8(text.data() + begin, text.size() - begin, NULL))
            text.push_back(b"\n")
    cdef const int64_t[::1] element_of = element
    k = 0
    for at in range(count):
        k += is_named[name_of_element[element_of[at]]]
    return {
        "named_share": <double>k / count if count else 0.0,
        "near_names": (names, name_of_element.base),
        "near_name_tokens": name_tokens(PyUnicode_DecodeUTF8(text.data(), text.size(), NULL), flags),
    }


cdef tuple name_tokens(str joined, const uint8_t[::1] flags):
    """Hash the parts of names: ``<div mainContent-2`` and a line break has ``<div``, ``main`` and ``content``."""
    cdef vector[uint64_t] hashes
    cdef vector[int64_t] owners
    cdef uint64_t hash_value = 0
    cdef int rank, number
    cdef uint8_t now, before
    cdef Py_ssize_t at
    cdef uint32_t code, previous
    cdef str lower = fold_if_needed(joined)
    cdef int kind = PyUnicode_KIND(joined), lower_kind = 0 if lower is None else PyUnicode_KIND(lower)
    cdef void *data = PyUnicode_DATA(joined)
    cdef void *lower_data = NULL if lower is None else PyUnicode_DATA(lower)
    cdef const uint8_t *flag_of = &flags[0]
    number = rank = 0
    before = previous = 0
    for at in range(PyUnicode_GET_LENGTH(joined)):
        code = PyUnicode_READ(kind, data, at)
        now = flag_of[code]
        if now & LETTER or code == 60:
            if rank and (code == 60 or (previous != 60 and (not before & LETTER or (now & UPPER and not before & UPPER)))):
                hashes.push_back(hash_value)
                owners.push_back(number)
                rank = 0
            if not rank:
                hash_value = 0
            hash_value += mix(lower_of(code, lower_kind, lower_data, at), rank)
            rank += 1
        elif rank and code == 10:
            hashes.push_back(hash_value)
            owners.push_back(number)
            rank = 0
        number += code == 10
        before, previous = now, code
    return hashes_of(hashes), array_of(owners)
