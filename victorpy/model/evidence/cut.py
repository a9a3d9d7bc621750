"""Choose the blocks to keep, given their probabilities, and estimate how good the result is.

Which words of a page are content is unknown, but their expected number is the sum of each block's words times its
probability. The blocks to keep maximise the F-measure of these expected counts. The maximum is the page's confidence.

Blocks that look alike, such as the records of a list, share their evidence. Units, such as listings and data tables,
are kept as a whole or not at all: a table with gaps is worse than no table.
Then headings directly above kept text, the headline, and facts, formulas, tables and boxes between kept blocks are
added. Their few words hardly count, but readers miss them. In a thread, all posts are added. Hidden copies of kept text
and links such as "Skip to content" and "Share" are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from victorpy.base.variables import FAVORS
from victorpy.base.words import simple_words
from victorpy.columns import NEAR, Columns, Counts, Flags, Floats
from victorpy.columns.elements import running_total
from victorpy.config import Config
from victorpy.document import Document
from victorpy.model.evidence.threads import has_posts, posts, profiles
from victorpy.outputs.boxes import BOX_HINTS, box_type

BETA = dict(zip(FAVORS, (0.5, 0.8, 2.0), strict=True))
"""The beta of the F-measure for each value of `favor`. A higher beta favours recall."""

FEWEST_BLOCKS = 5
"""Pages with fewer blocks are too short to be judged by `empty-below`."""

SHORT_PAGE = 60
"""Pages with fewer words are short. The model needs strong evidence to drop something from the main part of them."""

STRONG = 0.05
"""Below this probability there is strong evidence that a block is noise."""

TITLE_SHARE = 0.5
"""A headline has more than this share of its words in the title of the page."""

_HEADLINE_LEAST = 0.03  # probability
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

_TOGGLE = "kg-toggle-card"  # a title with a hidden text, in Ghost
_UNIT_HINTS = (*BOX_HINTS, _TOGGLE)
_NUMBER = re.compile(r"\(\d[\d.]{0,5}\)")  # of a formula
_LEVELS = ("h1", "h2", "h3", "h4", "h5", "h6")
_UNIT_LEVELS = 4
_LONGEST_GAP = 30  # blocks
_MOST_OTHER_WORDS = 8  # in a gap
_FEWEST_ALIKE = 2  # kept headings

# The lowest probability of facts, such as the price of a book. Most pages with a high expected F are articles, where
# short texts between paragraphs are dates and advertisements.
_SURE = 0.93
_FACT_LEAST, _FACT_LEAST_IF_SURE = 0.1, 0.3
_LONGEST_FACT = 6  # words
_FEWEST_FACTS = 6
_NO_FACTS = ("nav", "aside", "footer", "button", "select", "textarea", "img", "class-header")

LEAST_PROBABLE = 0.01
"""A page has no content if no block is more probable than this."""

WORD_OF_A_BLOCK = 0.5
"""Added to the number of words of each block, so that blocks without words have some weight."""

# A table contains data if it has this many blocks and rows, and if no block has more words than this.
_FEWEST_TABLE_BLOCKS = 4
_FEWEST_ROWS = 2
_LONGEST_MARKED_CELL = 80  # in a table with header cells or a caption
_LONGEST_CELL = 40  # in a table that possibly only arranges the page, but has rows of several cells

# Maximum number of words of a figure, of an item or description with its label, and of the label of an item.
_LONGEST_FIGURE = 120
_LONGEST_ITEM = 80
_LONGEST_LABEL = 8
_ITEM_BLOCKS = 2, 4  # at least and at most


def probabilities(log_odds: Floats) -> Floats:
    """Convert log-odds to probabilities."""
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def block_weights(page: Columns) -> Floats:
    """Return the weight of each block in scores: its number of words, plus a little."""
    return page.words + WORD_OF_A_BLOCK


def best_cut(probability: Floats, weight: Floats, beta: float = 1.0) -> tuple[float, float]:
    """Return the lowest probability to keep that maximises the expected F, and this F.

    >>> best_cut(np.array([0.9, 0.1, 0.8]), np.array([10.0, 10.0, 10.0]))
    (0.8, 0.8947368421052632)
    """
    if not len(probability):
        return 1.0, 0.0
    order = np.argsort(-probability, kind="stable")
    right, kept = np.cumsum((weight * probability)[order]), np.cumsum(weight[order])
    expected = (1 + beta**2) * right / np.maximum(kept + beta**2 * right[-1], 1e-9)
    best = int(expected.argmax())
    return float(probability[order[best]]), float(expected[best])


def expected_f1(probability: Floats, weight: Floats, kept: Flags) -> float:
    """Return the expected F1 of the kept blocks.

    If no block is kept, return the probability that the page has no content.
    """
    if not kept.any():
        return float(1 - probability.max(initial=0.0))
    content = weight * probability
    return float(2 * content[kept].sum() / (weight[kept].sum() + content.sum()))


@dataclass(frozen=True)
class Keeping:
    """How to choose the blocks to keep: by a threshold, or by the highest expected F of the page."""

    threshold: float | None = None
    """Minimum probability, relative to the most probable block. If None, the expected F decides."""
    favor: str = "balanced"
    empty_below: float = 0.0
    """Pages with an expected F below this are reported as empty."""
    heading_least: float = 0.1
    """Minimum probability of a heading directly above kept text."""

    @classmethod
    def of(cls, config: Config, threshold: float | None = None) -> Keeping:
        """Read the settings of a config. A given threshold overrides the config."""
        if threshold is None and config.one("decode", "viterbi") == "marginal":
            threshold = float(config.one("threshold", "0.5"))
        return cls(
            threshold,
            config.one("favor", cls.favor),
            float(config.one("empty-below", "0")),
            float(config.one("heading-least", "0.1")),
        )

    def kept(self, content: Floats, page: Columns) -> Flags:
        """Return which blocks are kept, given their probabilities of being content."""
        if self.threshold is not None:
            # A page unlike the training pages, such as a very short page, is judged relative to its best block.
            best = float(content.max(initial=0.0))
            return content >= (self.threshold * best if best > LEAST_PROBABLE else float("inf"))
        content = pool_units(pool_alike(content, page), page)
        cut, expected = best_cut(content, block_weights(page), BETA[self.favor])
        least = self.empty_below if page.count >= FEWEST_BLOCKS else min(self.empty_below, LEAST_PROBABLE)
        if self.favor != "recall" and expected < least:
            return np.zeros(len(content), dtype=bool)
        kept = content >= cut
        if self.favor != "precision":
            if page.count < FEWEST_BLOCKS or page.all_words < SHORT_PAGE:
                kept |= in_short_pages(page) & (content >= STRONG)
            if self.heading_least < 1:
                kept |= headings_above(kept, content, page, self.heading_least)
            kept |= units_between(kept, content, page)
            kept |= posts(kept, page, content >= STRONG)
        kept |= headline_above(kept, content, page)
        if self.favor != "precision":
            is_sure = self.favor == "balanced" and expected >= _SURE
            kept |= facts_between(kept, content, page, _FACT_LEAST_IF_SURE if is_sure else _FACT_LEAST)
        dropped = hidden_copies(kept, page) | visible_copies(kept, page)
        dropped |= headline_copies(kept, page) | buttons(kept, page) | profiles(kept, page)
        return kept & ~dropped


def pool_alike(content: Floats, page: Columns) -> Floats:
    """Move the log-odds of blocks that look alike towards their mean. The less they differ, the further they move.

    On a new kind of page, the model often recognises only some of the records of a list.
    """
    look, log_odds, count = page.look, _log_odds(content), page.look_sums.blocks
    mean = np.bincount(look, log_odds)[look] / count
    distance = mean - log_odds
    variance = np.bincount(look, distance * distance)[look] / count
    return probabilities(log_odds + distance / (1 + variance))


def _log_odds(content: Floats) -> Floats:
    clipped = np.minimum(np.maximum(content, 1e-6), 1 - 1e-6)  # faster than np.clip
    return np.asarray(np.log(clipped / (1 - clipped)))


def pool_units(content: Floats, page: Columns) -> Floats:
    """Give all blocks of a unit the same probability, from the mean of their log-odds, weighted by words."""
    first, stop = find_units(page)
    if not len(first):
        return content
    weight = block_weights(page)
    sums, weights = running_total(weight * _log_odds(content)), running_total(weight)
    means = probabilities((sums[stop] - sums[first]) / (weights[stop] - weights[first]))
    pooled = content.copy()
    for begin, end, mean in zip(first.tolist(), stop.tolist(), means.tolist(), strict=True):
        pooled[begin:end] = mean
    return pooled


def find_units(page: Columns) -> tuple[Counts, Counts]:
    """Return the first blocks and the ends of units, which are kept or dropped together. Smaller units come first.

    Units are listings, data tables, figures with their captions, terms with their descriptions, and short items of
    lists that begin with a label.
    """
    first, stop = page.block_range
    total, link_total = page._running_words
    figures, terms, items = (page.elements_with([tag]) for tag in ("figure", "dt", "li"))
    figures = figures[total[stop[figures]] - total[first[figures]] <= _LONGEST_FIGURE] if len(figures) else figures
    whole = page.elements_with(["pre"]), _data_tables(page, page.elements_with(["table"])), figures
    ranges = [(first[elements], stop[elements]) for elements in whole if len(elements)]
    if len(terms):
        list_of_term, following = page.parent[terms], np.append(terms[1:], 0)  # no term follows the last one
        end = np.where(page.parent[following] == list_of_term, first[following], stop[list_of_term])
        is_short = total[end] - total[first[terms]] <= _LONGEST_ITEM
        ranges.append((first[terms][is_short], end[is_short]))
    begin, end = first[items], stop[items]
    size = end - begin
    few = np.flatnonzero((size >= _ITEM_BLOCKS[0]) & (size <= _ITEM_BLOCKS[1]))
    if len(few):
        begin, end = begin[few], end[few]
        words, link_words, label = total[end] - total[begin], link_total[end] - link_total[begin], page.words[begin]
        is_labelled = (label <= _LONGEST_LABEL) & (2 * label <= words) & (words <= _LONGEST_ITEM)
        is_labelled &= 2 * link_words < words
        ranges.append((begin[is_labelled], end[is_labelled]))
    if not ranges:
        return few, few
    begin, end = map(np.concatenate, zip(*ranges, strict=True))
    size = end - begin
    order = np.argsort(size, kind="stable")
    order = order[size[order] > 1]
    return begin[order], end[order]


def in_short_pages(page: Columns) -> Flags:
    """Return the blocks of a page with very few blocks, or those in the main part of a page with few words.

    Blocks that are mostly links are left out.
    """
    is_text = page.link_words <= 0.5 * page.words
    return is_text if page.count < FEWEST_BLOCKS else is_text & (page.within("article") | page.within("main"))


def units_between(kept: Flags, content: Floats, page: Columns) -> Flags:
    """Return the formulas, data tables, boxes and details that fill a gap between kept blocks.

    They are short and unlike paragraphs, and readers miss them. Only strong evidence against them drops them.
    """
    result = np.zeros(len(kept), dtype=bool)
    numbers = np.flatnonzero(kept)
    steps = numbers[1:] - numbers[:-1]
    before = np.flatnonzero((steps > 1) & (steps <= _LONGEST_GAP + 1))
    gaps = [*zip((numbers[before] + 1).tolist(), numbers[before + 1].tolist(), strict=True)]
    is_likely = content >= STRONG
    blocks = [first + number for first, stop in gaps for number in is_likely[first:stop].nonzero()[0].tolist()]
    if not blocks:
        return result
    texts, block_range = page.texts, page.block_range
    elements = []
    if page.may_be_named(_UNIT_HINTS):
        around = set(page.ancestors[:_UNIT_LEVELS, blocks].ravel().tolist())
        for element in page.document.mentioning(around, "class", _UNIT_HINTS):
            name = page.document.attributes_of(element)["class"].lower()
            if _TOGGLE in name or box_type(name):
                elements.append(element)
    in_tables = np.compress(page.within("table")[blocks], blocks) if page.document.has_tag("table") else ()
    if len(in_tables):
        tables = _data_tables(page, np.unique(page.group("table")[in_tables]))
        elements += [*tables.tolist(), *np.intersect1d(page.parent[tables], page.elements_with(["figure"])).tolist()]
    formulas = [block for block in blocks if texts[block].startswith("$$")]
    if not elements and not formulas and not page.document.has_tag("details"):
        return result
    is_unit = page.within("details") & (page.link_words <= 0.5 * page.words)
    for element in elements:
        is_unit[block_range[0][element] : block_range[1][element]] = True
    for block in formulas:
        is_unit[block : block + 1 + bool(_NUMBER.fullmatch("".join(texts[block + 1 : block + 2])))] = True
    is_unit &= ~(page.within("form") | page.within("nav") | page.within("aside") | page.within("button"))
    for first, stop in gaps:
        words, in_unit = page.words[first:stop], is_unit[first:stop]
        is_linked = page.link_words[first:stop] @ in_unit > 0.5 * (words @ in_unit)  # teasers in a table
        if not is_linked and words @ ~in_unit <= _MOST_OTHER_WORDS:
            result[first:stop] = in_unit & is_likely[first:stop]
    return result


def facts_between(kept: Flags, content: Floats, page: Columns, least: float) -> Flags:
    """Return the short texts between kept blocks with at least the probability `least`.

    There must be several. On a page about a thing, they are its facts. In a thread, they are names and dates of the
    posts, so none are returned.
    """
    is_short = (page.words > 0) & (page.words <= _LONGEST_FACT)
    is_fact = is_short & (content >= least) & (2 * page.link_words <= page.words)
    numbers = np.flatnonzero(kept)
    is_fact[: numbers[0] if len(numbers) else len(kept)] = False
    is_fact[numbers[-1] if len(numbers) else 0 :] = False
    if not (is_fact & ~kept).any():
        return is_fact
    is_fact &= ~np.logical_or.reduce([page.within(tag) for tag in _NO_FACTS])
    if is_fact.sum() < _FEWEST_FACTS or has_posts(kept, page):
        is_fact[:] = False
    return is_fact


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
    if not len(repeated) or not page.may_be_named(_COPY_HINTS):
        return copies
    around = page.ancestors[:NEAR, repeated]
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
    for number in links.tolist():
        found[number] |= _JUMP.match(page.texts[number]) is not None
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


def headings_above(kept: Flags, content: Floats, page: Columns, least: float) -> Flags:
    """Return the headings directly above kept text, and the headings of the sections around kept headings.

    They have at least the probability `least`. Half of it is enough for the heading of a section that is mostly kept,
    if another heading of the same level and text above are kept. Buttons and pictures may stand between such a heading
    and its text. The heading may be in a box without the text if the page keeps several headings that look like it.
    """
    is_heading = page.within("class-header")
    is_text = kept & ~is_heading
    is_above_kept = np.zeros(len(kept), dtype=bool)
    is_above_kept[:-1] = is_text[1:]
    found = is_heading & is_above_kept & (content >= least)
    numbers = np.flatnonzero(is_heading)
    is_kept = (kept | found)[numbers]
    may_add = (content[numbers] >= least / 2) & ~is_kept
    if not may_add.any() or not is_kept.any():
        return found
    level = np.array([page.within(tag)[numbers] for tag in _LEVELS]).argmax(axis=0)
    # The smallest element with more than a heading. That of the heading of another box ends before the section does.
    ends = page.block_range[1][page.ancestors[:, numbers]]
    box_end = np.where(ends > numbers + 1, ends, page.count).min(axis=0)
    next_heading = np.append(numbers[1:], page.count)
    last = np.append(np.flatnonzero(next_heading[:-1] > numbers[:-1] + 1), len(numbers) - 1)  # of several in a row
    stop = next_heading[last[np.searchsorted(last, np.arange(len(numbers)))]]
    total, kept_total = page._running_words[0], running_total(page.words * is_text)
    is_section = 2 * (kept_total[stop] - kept_total[numbers]) > total[stop] - total[numbers + 1]
    look = page.look[numbers]
    is_alike = np.bincount(look, is_kept)[look] >= _FEWEST_ALIKE
    is_section &= is_alike | (kept_total[np.minimum(stop, box_end)] > kept_total[numbers])
    siblings = np.bincount(level[is_kept & (numbers != page.headline)], minlength=len(_LEVELS))
    found[numbers[may_add & is_section & (siblings[level] > 0) & (kept_total[numbers] > 0)]] = True
    may_add &= content[numbers] >= least
    if may_add.any():
        added: list[int] = []
        around: list[tuple[int, int, int, bool]] = []  # the heading of each section around the next one
        headings = zip(numbers.tolist(), level.tolist(), box_end.tolist(), may_add.tolist(), strict=True)
        for heading, is_kept_now in zip(headings, (kept | found)[numbers].tolist(), strict=True):
            while around and around[-1][1] >= heading[1]:
                around.pop()
            if is_kept_now:
                added += [number for number, _, end, is_likely in around if is_likely and end > heading[0]]
            around.append(heading)
        found[added] = True
    return found


def headline_above(kept: Flags, content: Floats, page: Columns) -> Flags:
    """Return the headline, if it is an ``<h1>`` or repeats the title of the page, and kept text follows.

    Gold standards contradict each other about headlines, so their probabilities are unreliable. Names of sites have
    even lower probabilities.
    """
    result = np.zeros(len(kept), dtype=bool)
    number = page.headline
    if kept[number:].any() and content[number] >= _HEADLINE_LEAST:
        result[number] = page.title_share[number] > TITLE_SHARE or page.within("h1")[number]
    return result


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


def _data_tables(page: Columns, tables: Counts) -> Counts:
    """Return the tables that contain data, unlike those that only arrange the page."""
    if not len(tables):
        return tables

    def count_inside(*tags: str) -> Counts:
        """Count the elements with these tags inside each table."""
        elements = page.elements_with(tags)
        counts: Counts = np.searchsorted(elements, page.stop[tables]) - np.searchsorted(elements, tables + 1)
        return counts

    rows, cells = count_inside("tr"), count_inside("td", "th")
    is_marked = count_inside("th", "thead", "caption") > 0
    is_grid = (rows > _FEWEST_ROWS) & (cells >= 2 * rows)
    first, stop = page.block_range
    is_data = (count_inside("table") == 0) & np.where(is_marked, rows >= _FEWEST_ROWS, is_grid)
    is_data &= stop[tables] - first[tables] >= _FEWEST_TABLE_BLOCKS
    longest = np.where(is_marked, _LONGEST_MARKED_CELL, _LONGEST_CELL)
    for number in np.flatnonzero(is_data):
        table = tables[number]
        is_data[number] = page.words[first[table] : stop[table]].max() <= longest[number]
    return tables[is_data]
