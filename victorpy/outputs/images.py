"""The images, videos and sounds of a page that belong to its content."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate, chain
from typing import NamedTuple
from urllib.parse import unquote

from victorpy.document import Document, Elements, Label
from victorpy.outputs.base import Segment, safe_link
from victorpy.outputs.tables import without_controls

# Attributes in which lazy loading stores the address. Sets of addresses come first, because they contain the largest
# image.
_SETS = ("data-lazy-srcset", "data-srcset", "srcset")
_ADDRESSES = ("data-lazy-src", "data-src", "data-original", "src")
_CANDIDATE = re.compile(r"(?<![^\s,])(?P<address>[^\s,]\S*(?<!,))(?:\s+(?P<size>[0-9.]{1,9})[wx])?\s*(?:,|$)")
_DECORATION = re.compile(
    r"(?:^|[^a-z])(?:(?:status)?icons?|emojis?|g?r?avatars?|logos?|spacer|pixel|sprite|smiley|smilies|blank|placeholder"
    r"|tracking|user_o(?:n|ff)line)(?:[^a-z]|$)|/buttons?/"
    r"|/(?:print|e-?mail|share|close|menu|search|arrow|prev|next)(?:[-_]?(?:button|btn|\d{1,3}))?\.(?:png|gif|svg|webp)$"
)
_ICON = re.compile(r"(?:\w+[ -]){0,2}icon", re.IGNORECASE)  # alternative text of an icon
_SIZE = re.compile(r"\s*([0-9]{1,6})(?:px)?\s*")
_MIN_SIDE = 48
_MAX_LINE = 10  # maximum pixels of the shorter side of a line or a spacer
_MAX_DROPPED_WORDS = 12
_MAX_LEVELS = 4
_MAX_ADDRESS = 2_000
_CAPTION = re.compile(r"(?<!\S)(?:wp-caption-text|thumbcaption|image-caption|gallery-caption|caption)(?!\S)")
_MAX_FIGURE = 60  # elements
_SHORT_NAME = 5  # maximum characters of a meaningless file name, such as a.png


class Image(NamedTuple):
    """An image, or a video or sound, which is written as a link."""

    element: int
    address: str
    alt: str
    link: str = ""
    """Address of the link around it."""
    is_embedded: bool = False
    """Whether it is a video or sound."""
    caption: tuple[Segment, ...] = ()

    @property
    def label(self) -> Label:
        """Label of an image in code that expects segments: a paragraph."""
        return Label.PARAGRAPH


def find_images(document: Document, labels: Sequence[Label], captions: Sequence[int]) -> list[tuple[int, Image]]:
    """Return the images of a page's content, each with the number of blocks before it.

    An image belongs to the content if its caption or ``alt`` text is kept, or if it is between kept blocks with hardly
    any dropped text in between. A linked image does not belong if its ``alt`` text contains a dropped text that links
    to the same address.
    """
    elements, texts, other = document.elements, document.texts, Label.OTHER
    images = elements.with_tag("img")
    with_alt = {number for number in images if elements.first_block[number] < elements.stop_block[number]}
    alternatives = {elements.first_block[number] for number in with_alt}
    kept_texts = [number for number, label in enumerate(labels) if label is not other and number not in alternatives]
    not_dropped = alternatives.union(kept_texts)
    words = [0 if number in not_dropped else text.count(" ") + 1 for number, text in enumerate(texts)]
    words_before = [*accumulate(words, initial=0)]
    caption_words: Counter[int] = Counter()
    for caption, image_element in captioned(captions, images, document).items():
        range_of_blocks = elements.first_block[caption], elements.stop_block[caption]
        first, stop = (min(number, len(texts)) for number in range_of_blocks)  # the page may be cut off
        caption_words[image_element] += words_before[stop] - words_before[first]
    found: list[tuple[int, Image, str]] = []
    base_url = document.base_url
    for number in images:
        place = elements.first_block[number]
        if place > len(labels):
            break  # the annotation tool renders the beginning of a page, with all elements
        has_kept_alt = number in with_alt and place < len(labels) and labels[place].is_content
        if not has_kept_alt and not _belongs(number, place, kept_texts, words_before, caption_words[number], document):
            continue
        image = _image(number, document, base_url)
        if image is not None:
            is_named_by_link = image.link and image.alt and not has_kept_alt
            link = elements.ancestor(number, ["a"]) if is_named_by_link else -1
            found.append((place, image, document.attributes_of(link).get("href", "")))
    dropped_names = _dropped_names({href for *_, href in found if href}, document, kept_texts, alternatives)
    by_address: dict[str, tuple[int, Image]] = {}
    for place, image, href in found:
        if not any(name in image.alt.casefold() for name in dropped_names.get(href, ())):
            by_address.setdefault(image.address, (place, image))
    return [*by_address.values()]


def _dropped_names(
    addresses: Collection[str], document: Document, kept_texts: Sequence[int], alternatives: Collection[int]
) -> dict[str, list[str]]:
    """Return the texts that link to each address, in lower case, for addresses of which all texts are dropped."""
    elements, texts, kept = document.elements, document.texts, {*kept_texts}
    links_to = document.elements_by("href") if addresses else {}
    found: dict[str, list[str]] = {}
    for address in addresses:
        links = links_to[address]
        ranges = [range(elements.first_block[link], min(elements.stop_block[link], len(texts))) for link in links]
        blocks = {*chain.from_iterable(ranges)}.difference(alternatives)
        if blocks.isdisjoint(kept):
            found[address] = [texts[number].casefold() for number in blocks]
    return found


def find_captions(document: Document) -> list[int]:
    """Return the elements that contain the caption of an image, in order."""
    elements = document.elements
    found = sorted({*elements.with_tag("figcaption"), *document.elements_named(_CAPTION, ["caption"])})
    return [number for number in found if elements.tag[number] != "caption"]


def captioned(captions: Sequence[int], images: Sequence[int], document: Document) -> dict[int, int]:
    """Return the image for each caption: the last image before it in the same figure."""
    found: dict[int, int] = {}
    elements = document.elements
    for number in captions:
        before = bisect_left(images, number)
        figure = elements.parent[number]
        is_small = elements.stop[number] - figure <= _MAX_FIGURE
        if before and is_small and figure <= images[before - 1]:
            found[number] = images[before - 1]
    return found


def _belongs(
    element: int, place: int, kept_texts: Sequence[int], words_before: Sequence[int], caption: int, document: Document
) -> bool:
    """Whether an image belongs to the kept text before or after it. `caption` is the number of words of its caption."""
    elements = document.elements
    next_kept = bisect_left(kept_texts, place)
    before = kept_texts[next_kept - 1] if next_kept else -1
    after = kept_texts[next_kept] if next_kept < len(kept_texts) else -1
    if before < 0 and after < 0:
        return False
    if before >= 0 and after >= 0:
        belongs = words_before[after] - words_before[before] <= _MAX_DROPPED_WORDS + caption
    else:  # the first or last image of the content must be near kept text in the tree
        first, last = (before, place) if before >= 0 else (place, after)
        belongs = words_before[last] == words_before[first] and _is_near(element, max(before, after), elements)
    if not belongs and document.has_tag("figure"):
        figure = elements.ancestor(element, ["figure"])
        first = bisect_left(kept_texts, elements.first_block[figure]) if figure >= 0 else len(kept_texts)
        belongs = first < len(kept_texts) and kept_texts[first] < elements.stop_block[figure]
    table = elements.ancestor(element, ["table"]) if belongs and document.has_tag("table") else -1
    if table >= 0:
        first, stop = elements.first_block[table], min(elements.stop_block[table], len(words_before) - 1)
        has_kept = bisect_left(kept_texts, stop) > bisect_left(kept_texts, first)
        return has_kept or words_before[stop] == words_before[first]  # otherwise the table was dropped with its text
    return belongs


def _is_near(element: int, block: int, elements: Elements) -> bool:
    """Whether an ancestor a few levels up contains a block."""
    for _ in range(_MAX_LEVELS):
        element = elements.parent[element]
        if element < 0:
            break
        if elements.first_block[element] <= block < elements.stop_block[element]:
            return True
    return False


def _image(element: int, document: Document, base_url: str) -> Image | None:
    """Return an image with its best address. Return None if it has no address or is a decoration."""
    elements = document.elements
    attributes = document.attributes_of(element)
    address = max_address(attributes)
    if not address or address.startswith("data:") or len(address) > _MAX_ADDRESS:
        return None
    names = f"{attributes.get('class', '')} {address.rpartition('?')[0] or address}".lower()
    sides = [int(size[1]) for name in ("width", "height") if (size := _SIZE.fullmatch(attributes.get(name, "")))]
    is_icon = _DECORATION.search(names) or _ICON.fullmatch(attributes.get("alt", "").strip())
    if is_icon or (sides and (max(sides) < _MIN_SIDE or min(sides) <= _MAX_LINE)):
        return None
    safe = safe_link(address, base_url)
    if not safe.startswith(("http:", "https:")) and (base_url or ":" in safe):
        return None
    link = elements.ancestor(element, ["a"])
    href = document.attributes_of(link).get("href", "")
    name = unquote(href).rpartition("/")[2].rpartition(":")[2]
    if len(name) > _SHORT_NAME and name in unquote(address):
        href = ""  # the link leads to the same image or to the page about it
    is_embedded = "data-embed" in attributes
    text = attributes.get("title") if is_embedded else attributes.get("alt")
    alt = " ".join(without_controls(text or "").split())
    return Image(element, safe, alt, safe_link(href, base_url) if href else "", is_embedded)


def max_address(attributes: dict[str, str]) -> str:
    """Return the address of the largest version of an image.

    >>> max_address({"src": "tea.jpg", "srcset": "tea-2.jpg 2x, tea-3.jpg 3x"})
    'tea-3.jpg'
    """
    for name in filter(attributes.get, _SETS):
        sizes = [
            (float(candidate["size"] or 1) if (candidate["size"] or "1").count(".") < 2 else 1.0, candidate["address"])
            for candidate in _CANDIDATE.finditer(attributes[name][:20_000])
        ]
        if sizes:
            return max(sizes, key=lambda pair: pair[0])[1]
    return next((attributes[name].strip() for name in _ADDRESSES if attributes.get(name, "").strip()), "")
