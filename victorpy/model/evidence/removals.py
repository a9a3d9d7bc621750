"""Rules that drop blocks after the cut: copies of kept text, and buttons such as "Share" and "Skip to content"."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from victorpy.base.words import simple_words
from victorpy.columns import Columns, Flags
from victorpy.document import Document
from victorpy.model.evidence.additions import TITLE_SHARE

_NEAR_HEADLINE = 6  # kept blocks

# A hidden block is a copy if it has this many words, and this share of its pairs is in the visible kept text.
_FEWEST_COPIED = 20
_COPIED = 0.85
_FEWEST_SLIDE_WORDS = 5
_PAIR = np.uint64(0x9E3779B97F4A7C15)

# Links such as "Skip to content", alone or several in a block.
_JUMP = re.compile(
    r"(?:jump|skip|back) to\b|zu[mr]? .{0,20}springen|springe zu|aller (?:au|à la) (?:contenu|navigation|recherche)|"
    r"(?:ir|saltar) a(?:l|\b la\b) (?:contenido|navegación|búsqueda)|vai al(?:la)? (?:contenuto|navigazione|ricerca)|"
    r"przejdź do |перейти к ",
    re.IGNORECASE,
)
# Classes of cloned slides, and of elements for small or large screens.
_COPY_NAME = re.compile(
    r"(?<![\w-])(?:(?:slick-|tns-slide-)?cloned|(?:bx-|[a-z]+__slide--)?clone|swiper-slide-duplicate"
    r"|(?:mobile|desktop)-only|(?:hide|hidden|show|visible)-(?:on-|for-)?(?:mobile|desktop|xs|sm|md|lg|small|large)"
    r"|d-(?:none|(?:sm|md|lg|xl)-none)|(?:sm|md|lg|xl):hidden)(?![\w-])"
)
_COPY_HINTS = ("clone", "duplicate", "-only", "hid", "show-", "visible-", "-none")
_COPY = re.compile(r"cop(?:y|ied)(?: \w+){0,3}!?", re.IGNORECASE)  # buttons of listings
# Addresses that share, print or send the page, and names of the elements around such links.
_SHARE_ADDRESS = re.compile(
    r"/sharer?(?:\.php|article)?[/?]|/intent/|/pin/create/|[?&]share=|^mailto:\?|^whatsapp:|^https?://(?:wa\.me|api\."
    r"whatsapp\.com/send)|window\.print"
)
# Every such address contains one of these. A search with the pattern is ten times slower.
_SHARE_HINTS = ("share", "/intent/", "/pin/create/", "mailto:?", "whatsapp", "wa.me", "window.print")
_SHARE_NAME = re.compile(r"(?<![a-z])(?:share|sharing)(?![a-z]|.price)")
_SHARE_LEVELS = 4  # from the link up
_LONGEST_BUTTON = 12  # words


def hidden_copies(kept: Flags, page: Columns) -> Flags:
    """Return the long hidden blocks whose pairs of words are nearly all in the visible kept text.

    Some pages contain their text several times, for example for small screens.
    """
    copies = np.zeros(page.count, dtype=bool)
    hidden = np.flatnonzero(kept & page.hidden & (page.words >= _FEWEST_COPIED))
    if len(hidden):
        hashes, block = page.word_tokens
        is_pair = block[1:] == block[:-1]
        pairs, block = (hashes[1:] * _PAIR + hashes[:-1])[is_pair], block[1:][is_pair]
        is_copied = np.isin(pairs, pairs[(kept & ~page.hidden)[block]])
        copied, all_pairs = np.bincount(block, is_copied, page.count), np.bincount(block, minlength=page.count)
        copies[hidden] = copied[hidden] >= np.maximum(_COPIED * all_pairs[hidden], 1)
    return copies


def visible_copies(kept: Flags, page: Columns) -> Flags:
    """Return the blocks of elements that sliders have cloned or that are for some screens only, if they are copies.

    Names of elements tell what they are. Most of their kept text must be in earlier or in unnamed elements. Other
    copies stay, since pages repeat texts for good reasons.
    """
    copies = np.zeros(page.count, dtype=bool)
    repeated = np.flatnonzero(kept & (page.duplicates > 1))
    if not len(repeated):
        return copies
    around = page.ancestors[:, repeated]
    named = _named({*around.ravel().tolist()}, page.document, "class", _COPY_HINTS, _COPY_NAME)
    if not named:
        return copies
    is_named = np.isin(around, named)
    nearest = np.where(is_named.any(axis=0), around[is_named.argmax(axis=0), np.arange(len(repeated))], -1)
    blocks_of: dict[int, list[int]] = {}
    for number, element in zip(repeated.tolist(), nearest.tolist(), strict=True):
        blocks_of.setdefault(element, []).append(number)
    seen: set[str] = set()
    for element in sorted(blocks_of):  # blocks outside named elements come first
        copied = [number for number in blocks_of[element] if page.texts[number] in seen]
        if element >= 0:
            inside = slice(page.block_range[0][element], page.block_range[1][element])
            words = page.words[inside] @ kept[inside]
            copies[copied] = words >= _FEWEST_SLIDE_WORDS and page.words[copied].sum() >= _COPIED * words
        seen.update(page.texts[number] for number in blocks_of[element])
    return copies


def headline_copies(kept: Flags, page: Columns) -> Flags:
    """Return the kept blocks near the headline that repeat it, such as the end of a path or the title of a picture.

    The first line of a text may repeat it, too, and stays.
    """
    copies = np.zeros(len(kept), dtype=bool)
    number = page.headline
    is_headline = page.count and (page.title_share[number] > TITLE_SHARE or page.within("h1")[number])
    if is_headline and kept[number] and page.duplicates[number] > 1:
        blocks = np.flatnonzero(kept)
        place = int(np.searchsorted(blocks, number))
        near = blocks[max(place - _NEAR_HEADLINE, 0) : place + _NEAR_HEADLINE + 1]
        headline = simple_words(page.texts[number])
        copies[near] = [simple_words(page.texts[other]) == headline for other in near.tolist()]
        copies &= ~np.logical_or.reduce([page.within(tag) for tag in ("td", "th", "dd", "pre")])
        copies &= page.ancestor_sums.blocks[0] == 1
        copies[number] = False
    return copies


def buttons(kept: Flags, page: Columns) -> Flags:
    """Return the kept blocks that only lead to other places of the page, or share, print, send or copy something.

    So does text to be copied from a text field, unless the page has no other text.
    """
    in_field = page.within("textarea")
    found = kept & in_field & ~in_field[kept].all()
    candidates = kept & (page.words <= _LONGEST_BUTTON)
    for number in np.flatnonzero(candidates & page.within("button")).tolist():
        found[number] = _COPY.fullmatch(page.texts[number]) is not None
    links = np.flatnonzero(candidates & (page.link_words >= page.words))
    if not len(links):
        return found
    block_of_piece, _, element_of_piece = page._pieces
    around = [element_of_piece[np.searchsorted(block_of_piece, links)]]
    for _ in range(_SHARE_LEVELS - 1):
        around.append(page._parent_or_self[around[-1]])
    shares = _sharing(set(np.concatenate(around).tolist()), page.document)
    if shares:
        found[links] |= np.isin(around, shares).any(axis=0)
    found[[number for number in links.tolist() if _JUMP.match(page.texts[number])]] = True
    return found


def _sharing(elements: Collection[int], document: Document) -> list[int]:
    """Return the elements whose address or name says that they share, print or send the page."""
    by_address = _named(elements, document, "href", _SHARE_HINTS, _SHARE_ADDRESS)
    return by_address + _named(elements, document, "class", ["shar"], _SHARE_NAME)


def _named(
    elements: Collection[int], document: Document, attribute: str, hints: Sequence[str], pattern: re.Pattern[str]
) -> list[int]:
    """Return the elements with an attribute that matches a pattern and contains one of the hints."""
    found = document.mentioning(elements, attribute, hints)
    return [element for element in found if pattern.search(document.attributes_of(element)[attribute].lower())]
