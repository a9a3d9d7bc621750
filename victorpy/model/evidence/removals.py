"""Rules that drop blocks after the cut: copies of kept text, cookie dialogs, buttons and filters.

Each rule returns the numbers of the blocks to drop. Most pages have none, so rules return early.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from victorpy.base.words import simple_words
from victorpy.columns import Columns, Counts, Flags
from victorpy.document import Document
from victorpy.model.evidence.additions import outside
from victorpy.model.role_patterns import has_headline

_NEAR_HEADLINE = 6  # kept blocks

# Minimum number of words of a hidden copy, and minimum share of its word pairs in the visible kept text.
_FEWEST_COPIED = 20
_COPIED = 0.85
_FEWEST_SLIDE_WORDS = 5
_PAIR = np.uint64(0x9E3779B97F4A7C15)

# Matches one or several links such as "Skip to content".
_JUMP = re.compile(
    r"(?:jump|skip|back) to\b|zu[mr]? .{0,20}springen|springe zu|aller (?:au|à la) (?:contenu|navigation|recherche)|"
    r"(?:ir|saltar) a(?:l|\b la\b) (?:contenido|navegación|búsqueda)|vai al(?:la)? (?:contenuto|navigazione|ricerca)|"
    r"przejdź do |перейти к ",
    re.IGNORECASE,
)
# Matches classes of cloned slides, and of elements for small or large screens only.
_COPY_NAME = re.compile(
    r"(?<![\w-])(?:(?:slick-|tns-slide-)?cloned|(?:bx-|[a-z]+__slide--)?clone|swiper-slide-duplicate"
    r"|(?:mobile|desktop)-only|(?:hide|hidden|show|visible)-(?:on-|for-)?(?:mobile|desktop|xs|sm|md|lg|small|large)"
    r"|d-(?:none|(?:sm|md|lg|xl)-none)|(?:sm|md|lg|xl):hidden)(?![\w-])"
)
_COPY_HINTS = ("clone", "duplicate", "-only", "hid", "show-", "visible-", "-none")
# Classes of texts for screen readers only.
_SPOKEN_NAME = re.compile(r"(?<!not-)(?<![a-z])(?:sr-only|screen-?reader|visually-?hidden|a-offscreen)", re.IGNORECASE)
_SPOKEN_HINTS = ("sr-only", "screen", "visually", "offscreen")
_LONGEST_TWIN = 6  # words
_COPY = re.compile(r"cop(?:y|ied)(?: \w+){0,3}!?", re.IGNORECASE)  # texts of copy buttons on listings
# Match addresses that share, print or send the page, and names of the elements around such links.
_SHARE_ADDRESS = re.compile(
    r"/sharer?(?:\.php|article)?[/?]|/intent/|/pin/create/|[?&]share=|^mailto:\?|^whatsapp:|^https?://(?:wa\.me|api\."
    r"whatsapp\.com/send)|window\.print"
)
# Every such address contains one of these strings. Searching for them first is ten times faster than the pattern.
_SHARE_HINTS = ("share", "/intent/", "/pin/create/", "mailto:?", "whatsapp", "wa.me", "window.print")
_SHARE_NAME = re.compile(r"(?<![a-z])(?:share|sharing)(?![a-z]|.price)")
_SHARE_LEVELS = 4  # number of levels above the link that are checked
_LONGEST_BUTTON = 12  # words

# Texts of buttons and check boxes, and labels of advertisements, without punctuation at the ends.
_CONTROLS = frozenset(
    "close|loading|share|filter|filters|sort by|add to cart|read more|post a comment|sponsored|advertisement|"
    "advertisements|advertising|anzeige|werbung|publicité|publicidad|pubblicità|реклама|広告|广告|廣告|광고|"
    "▢|☐|□|×|✕|✖".split("|")
)
# Headings of tables of contents, which are useless without the table.
_CONTENTS = frozenset(
    "contents|table of contents|in this article|on this page|jump to|inhalt|inhaltsverzeichnis|sommaire|"
    "table des matières|contenido|índice|indice|inhoud|spis treści|содержание|оглавление|目录|目錄|目次|목차".split("|")
)
_CONTROL_ENDS = " .:…»›>："
_LONGEST_CONTROL = max(map(len, _CONTROLS | _CONTENTS)) + 3  # characters
# Points, bars, arrows and dashes that are left of an element without text. Longer lines divide sections.
_STRAY = re.compile(r"[.,:;·•|/»›‹«–—-]{1,2}")
_LONGEST_STRAY = 2  # characters
_FILTER = re.compile(r"(?=\D)[^():]{1,40} ?\(\d{1,3}(?:,\d{3})?\)")  # a filter with the number of its results
_LONGEST_FILTER = 50  # characters
_FEWEST_FILTERS = 4

# Match names of elements around cookie dialogs, and typical words of these dialogs.
_CONSENT_NAME = re.compile(
    r"consent|cookie[-_ ]?(?:policy|banner|bar|notice|message|popup|modal|dialog|law)"
    r"|(?<![a-z])(?:alert)?dialog(?![a-z])"
)
_CONSENT_HINTS = ("consent", "cookie", "dialog")
_CONSENT_TEXT = re.compile(
    r"cookie|consent|partners|privacy|einwillig|datenschutz|consentement|consentimiento|consenso|privacidad|согласи"
)
_FEWEST_CONSENT_WORDS = 2
_MOST_CONSENT = 0.8  # maximum share of the dialog in all kept words


def hidden_copies(kept: Flags, page: Columns) -> list[int]:
    """Return the long hidden blocks of which nearly all word pairs occur in the visible kept text.

    Some pages contain their text several times, for example for small screens.
    """
    hidden = np.flatnonzero(kept & page.hidden)
    hidden = hidden[page.words[hidden] >= _FEWEST_COPIED] if len(hidden) else hidden
    if not len(hidden):
        return []
    hashes, block = page.word_tokens
    is_pair = block[1:] == block[:-1]
    pairs, block = (hashes[1:] * _PAIR + hashes[:-1])[is_pair], block[1:][is_pair]
    is_copied = np.isin(pairs, pairs[(kept & ~page.hidden)[block]])
    copied, all_pairs = np.bincount(block, is_copied, page.count), np.bincount(block, minlength=page.count)
    numbers: list[int] = hidden[copied[hidden] >= np.maximum(_COPIED * all_pairs[hidden], 1)].tolist()
    return numbers


def hidden_twins(kept: Flags, page: Columns) -> list[int]:
    """Return the short blocks hidden from screen readers, next to a kept text for screen readers that says the same.

    Of "mo." and "months", the text for screen readers stays, because it is part of a visible block.
    """
    short = np.flatnonzero(kept & page.hidden)
    short = short[page.words[short] <= _LONGEST_TWIN] if len(short) else short
    if not len(short):
        return []
    block_of_piece, _, element_of_piece = page._pieces
    before, after = np.searchsorted(block_of_piece, short) - 1, np.searchsorted(block_of_piece, short, side="right")
    beside = np.take(element_of_piece, np.concatenate([before, after]), mode="clip")
    around = np.concatenate([beside, page._parent_or_self[beside]])
    if not page.document.mentioning(around, "class", _SPOKEN_HINTS):
        return []
    return [number for number in short.tolist() if _has_spoken_twin(number, kept, page)]


def _has_spoken_twin(number: int, kept: Flags, page: Columns) -> bool:
    """Whether a kept text beside a block, which is for screen readers only, says the same."""
    near = [other for other in (number - 1, number + 1) if 0 <= other < page.count and kept[other]]
    for block in page.document.select(near):
        pieces = [*block.each_piece()]
        piece, text = pieces[-1 if block.index < number else 0]
        around = [piece.element, page.document.elements.parent[piece.element]] if piece.element >= 0 else []
        is_spoken = any(_SPOKEN_NAME.search(page.document.attributes_of(each).get("class", "")) for each in around)
        if is_spoken and _says(page.texts[number], text):
            return True
    return False


def _says(short: str, spoken: str) -> bool:
    """Whether a text has the letters of another one, or abbreviates words of it."""
    words, spoken_words = simple_words(short), simple_words(spoken)
    is_short = all(
        any(other == word or (word.isalpha() and other.startswith(word)) for other in spoken_words) for word in words
    )
    return bool(words) and (is_short or "".join(words) == "".join(spoken_words))


def visible_copies(kept: Flags, page: Columns) -> list[int]:
    """Return copies of kept text in elements that sliders have cloned or that are for some screen sizes only.

    Such elements are recognised by their classes. Most of their kept text must also be in other or earlier elements.
    All other copies stay, since pages may repeat texts for good reasons.
    """
    copies: list[int] = []
    repeated = np.flatnonzero(kept & (page.duplicates > 1))
    if not len(repeated):
        return copies
    around = page.ancestors[:, repeated]
    named = _named(around.ravel(), page.document, "class", _COPY_HINTS, _COPY_NAME)
    if not named:
        return copies
    is_named = np.isin(around, named)
    nearest = np.where(is_named.any(axis=0), around[is_named.argmax(axis=0), np.arange(len(repeated))], -1)
    blocks_of: dict[int, list[int]] = {}
    for number, element in zip(repeated.tolist(), nearest.tolist(), strict=True):
        blocks_of.setdefault(element, []).append(number)
    seen: set[str] = set()
    for element in sorted(blocks_of):  # start with the blocks outside such elements
        copied = [number for number in blocks_of[element] if page.texts[number] in seen]
        if element >= 0:
            inside = slice(page.block_range[0][element], page.block_range[1][element])
            words = page.words[inside] @ kept[inside]
            if words >= _FEWEST_SLIDE_WORDS and page.words[copied].sum() >= _COPIED * words:
                copies += copied
        seen.update(page.texts[number] for number in blocks_of[element])
    return copies


def headline_copies(kept: Flags, page: Columns) -> list[int]:
    """Return kept blocks near the headline that repeat it, such as the last item of a path or the title of a picture.

    The first line of a text may also repeat it, but is not returned.
    """
    number, texts = page.headline, page.texts
    if not page.count or not kept[number] or page.duplicates[number] <= 1 or not has_headline(page):
        return []
    blocks = np.flatnonzero(kept)
    place = int(np.searchsorted(blocks, number))
    near = blocks[max(place - _NEAR_HEADLINE, 0) : place + _NEAR_HEADLINE + 1].tolist()
    headline = simple_words(texts[number])
    longest = max(headline, key=len, default="")  # most texts do not contain it
    similar = [other for other in near if longest in texts[other].lower() and other != number]
    blocks_inside = page.ancestor_sums.blocks[0]
    copies = [other for other in similar if blocks_inside[other] == 1 and simple_words(texts[other]) == headline]
    return outside(copies, page, "td", "th", "dd", "pre")


def buttons(kept: Flags, page: Columns) -> list[int]:
    """Return kept blocks that only jump to another place on the page, or that share, print, send or copy the page.

    Text in a text field, which is meant to be copied, is also returned, unless the page has no other text.
    """
    found: list[int] = []
    texts, words = page.texts, page.words
    if page.document.has_tag("textarea"):
        in_field = page.within("textarea")
        if not in_field[kept].all():
            found += np.flatnonzero(kept & in_field).tolist()
    candidates = kept & (words <= _LONGEST_BUTTON)
    if page.document.has_tag("button"):
        in_button = np.flatnonzero(candidates & page.within("button")).tolist()
        found = [number for number in found if number not in in_button]  # the texts of buttons decide
        found += [number for number in in_button if _COPY.fullmatch(texts[number])]
    links = np.flatnonzero(candidates & (page.link_words >= words))
    if not len(links):
        return found
    block_of_piece, _, element_of_piece = page._pieces
    around = [element_of_piece[np.searchsorted(block_of_piece, links)]]
    for _ in range(_SHARE_LEVELS - 1):
        around.append(page._parent_or_self[around[-1]])
    near = np.concatenate(around)
    shares = _named(near, page.document, "href", _SHARE_HINTS, _SHARE_ADDRESS)
    shares += _named(near, page.document, "class", ["shar"], _SHARE_NAME)
    if shares:
        found += links[np.isin(around, shares).any(axis=0)].tolist()
    return found + [number for number in links.tolist() if _JUMP.match(texts[number]) and words[number] > 1]


def controls(kept: Flags, page: Columns) -> list[int]:
    """Return the kept texts of buttons and advertisements, such as "Close", and filters with counts: "Red (12)".

    Texts in tables, listings or headings are left out. The heading "Table of contents" is returned if the table itself
    is dropped.
    """
    found, filters, lone = [], [], []
    texts = page.texts
    for number in np.flatnonzero(kept & (page.lengths <= _LONGEST_FILTER)).tolist():
        text = texts[number]
        control = text.rstrip(_CONTROL_ENDS).lower() if len(text) <= _LONGEST_CONTROL else ""
        if control in _CONTROLS:
            found.append(number)
        elif text.endswith(")") and _FILTER.fullmatch(text):
            filters.append(number)
        elif control in _CONTENTS:
            if page.duplicates[number] == 1 and not kept[number + 1 : number + 2].any():
                lone.append(number)
            if page.within("summary")[number]:
                lone += _contents_without_list(number, kept, page)
    if filters and sum(text.endswith(")") and bool(_FILTER.fullmatch(text)) for text in texts) >= _FEWEST_FILTERS:
        found += filters
    return outside(found, page, "td", "th", "pre", "class-header") + lone


def _contents_without_list(number: int, kept: Flags, page: Columns) -> list[int]:
    """Return the blocks of a ``<details>`` with contents, if only its summary and headings are kept."""
    element = page.document.elements.ancestor(int(page.element[number]), ["details"])
    if element < 0:
        return []
    inside = np.arange(page.block_range[0][element], page.block_range[1][element])
    is_list = ~page.within_any("summary", "class-header")[inside]
    return inside.tolist() if is_list.any() and not kept[inside[is_list]].any() else []


def strays(kept: Flags, page: Columns) -> list[int]:
    """Return kept blocks with only a point, a bar or an arrow, outside tables, descriptions and listings."""
    short = np.flatnonzero(kept & (page.lengths <= _LONGEST_STRAY)).tolist()
    found = [number for number in short if _STRAY.fullmatch(page.texts[number])]
    return outside(found, page, "td", "th", "dd", "pre", "code")


def consents(kept: Flags, page: Columns) -> list[int]:
    """Return kept blocks of consent dialogs, for example about cookies, unless they are most of the page."""
    names, name_of_element = page.near_names
    hinted = _lines_with(page.near_names_text, _CONSENT_HINTS) - {0}
    named = [at for at in hinted if _CONSENT_NAME.search(names[at].lower())]
    if not named:
        return []
    is_named = np.zeros(len(names), dtype=bool)
    is_named[named] = True
    words = page.words * kept
    elements = np.flatnonzero(is_named[name_of_element])
    inside = page.element_sum(words, elements)
    found: list[int] = []
    for element in elements[(inside > 0) & (inside <= _MOST_CONSENT * words.sum())].tolist():
        first, stop = (int(edge[element]) for edge in page.block_range)
        text = " ".join(page.texts[first:stop]).lower()
        if len({*_CONSENT_TEXT.findall(text)}) >= _FEWEST_CONSENT_WORDS:
            found += range(first, stop)
    return found


def _lines_with(text: str, hints: Sequence[str]) -> set[int]:
    """Return the numbers of the lines that contain one of the hints. Faster than a search in each line."""
    found = set()
    for hint in hints:
        line = counted = 0
        place = text.find(hint)
        while place >= 0:
            line, counted = line + text.count("\n", counted, place), place
            found.add(line)
            place = text.find(hint, place + 1)
    return found


def _named(
    elements: Counts, document: Document, attribute: str, hints: Sequence[str], pattern: re.Pattern[str]
) -> list[int]:
    """Return the elements with an attribute that matches a pattern and contains one of the hints."""
    found = document.mentioning(elements, attribute, hints)
    return [element for element in found if pattern.search(document.attributes_of(element)[attribute].lower())]
