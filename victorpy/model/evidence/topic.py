"""Compare the words of each block with the words of likely content elsewhere on the page.

Teasers, other articles and texts about the site share few rare words with the main text. Captions, answers and facts
share many. A block is compared with all other blocks. Each of the elements around it is compared with the blocks
outside the element, so that short blocks are judged by their surroundings too. Copies of a block count once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from victorpy import native
from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.columns.tokens import Hashes
from victorpy.model.evidence.cut import TITLE_SHARE

_native = native.load("trees")

LEVELS = 4
"""Number of elements around a block that are compared."""

MOST_BLOCKS = 80
"""Larger elements, and those with more than half of the page's words, are not compared with the rest of the page."""

SHORTEST = 4
"""Minimum number of characters of a word. In scripts without spaces, a word is a pair of letters."""

LIKELY = 0.5
"""A word is likely content if the probabilities of the blocks that contain it add up to more than this."""

NOTHING = -1.0
"""Value of a share for a block without words, and of a mean if no word is elsewhere on the page."""
TOO_LARGE = -2.0

_DOUBT = 3.0
_PAIR = np.uint64(0x9E3779B97F4A7C15)

_SUMMARIES = ("probability", "likely", "alone", "odds", "likely-words")
COLUMNS = (
    *(f"topic{level}.{name}" for level in range(LEVELS + 1) for name in _SUMMARIES),
    *("topic.headline-share", "topic.headline"),
)
"""For a block and the elements around it, with rare words weighing most: the mean probability of other blocks with the
same words, the share of words in likely content and nowhere else, and the log-odds of content given the words. Then the
number of words in likely content, and what a block has in common with the headline."""


def topic(page: Columns, probability: Floats) -> npt.NDArray[np.float32]:
    """Return how much the words of each block are those of likely content. One row for each of `COLUMNS`."""
    if not page.count:
        return np.zeros((len(COLUMNS), 0), dtype=np.float32)
    is_headline = page.title_share[page.headline] > TITLE_SHARE or page.within("h1")[page.headline]
    headline = page.headline if is_headline else -1
    if _native:
        tokens = *page.word_tokens, page.word_lengths, page._letter_group
        around = page.ancestors[1 : LEVELS + 1], *page.block_range, page._running_words[0]
        limits = MOST_BLOCKS, SHORTEST, LIKELY, NOTHING, TOO_LARGE, _DOUBT
        rows: npt.NDArray[np.float32] = _native.topic_rows(*tokens, probability, *around, headline, *limits)
        return rows
    return _topic(page, probability, headline)


def _topic(page: Columns, probability: Floats, headline: int) -> npt.NDArray[np.float32]:
    group = page._letter_group
    original = np.unique(group, return_index=True)[1][group]  # the first copy of each block
    mean = (np.bincount(group, probability) / np.bincount(group))[group]
    word, owner, words = _words_of_blocks(page, original)
    blocks_with, content = np.bincount(word, minlength=words), np.bincount(word, mean[owner], words)
    texts = np.unique(owner)
    base = (float(mean[texts].sum()) + 0.5) / (len(texts) + 1)
    rarity = np.log((len(texts) + 1) / np.maximum(blocks_with, 1))
    # The words of each range of blocks, and how often they are inside it
    begin, end, is_small, places = _ranges(page, original)
    starts = np.searchsorted(owner, np.arange(page.count + 1))
    length = np.where(is_small, starts[end] - starts[begin], 0)
    row = np.repeat(starts[begin] - (np.cumsum(length) - length), length) + np.arange(length.sum())
    pair = np.repeat(np.arange(len(begin)), length) * words + word[row]
    pair, where, blocks_inside = np.unique(pair, return_inverse=True, return_counts=True)
    holder, word_inside = pair // words, pair % words
    content_inside = np.bincount(where.reshape(-1), mean[owner[row]], len(pair))

    def sums(values: Floats | Flags) -> Floats:
        """Add up values of the words of each range."""
        return np.bincount(holder, values, len(begin)).astype(np.float64)

    weight, others = rarity[word_inside], blocks_with[word_inside] - blocks_inside
    likely = np.maximum(content[word_inside] - content_inside, 0)
    known, elsewhere = sums(weight), sums(weight * (others > 0))
    odds = np.log((likely + base) * (1 - base) / ((others - likely + 1 - base) * base))
    in_others = sums(weight * (others > 0) * likely / np.maximum(others, 1))
    summaries = [
        np.where(elsewhere > 0, in_others / np.maximum(elsewhere, 1e-9), NOTHING),
        np.where(known > 0, sums(weight * (likely > LIKELY)) / np.maximum(known, 1e-9), NOTHING),
        np.where(known > 0, 1 - elsewhere / np.maximum(known, 1e-9), NOTHING),
        sums(weight * odds) / (known + _DOUBT),
        sums(likely > LIKELY),
    ]
    by_level = np.where(is_small, summaries, TOO_LARGE)[:, places].transpose(1, 0, 2).reshape(-1, page.count)
    is_shared = np.isin(word_inside, word[owner == original[headline]]) & (holder != original[headline])
    shared = sums(weight * is_shared * (headline >= 0))[original]
    return np.vstack([by_level, shared / np.maximum(known[original], 1e-9), shared]).astype(np.float32)


def _ranges(page: Columns, original: Counts) -> tuple[Counts, Counts, Flags, Counts]:
    """Return ranges of blocks that are compared with the rest of the page: all blocks, then the elements around them.

    Their begins and ends, whether they are small enough, and the numbers of the ranges of each block, a row per level.
    """
    block = np.arange(page.count)
    elements, number = np.unique(page.ancestors[1 : LEVELS + 1], return_inverse=True)
    first, stop = page.block_range
    begin, end = np.append(block, first[elements]), np.append(block + 1, stop[elements])
    total = page._running_words[0]
    is_small = (end > begin) & (end - begin <= MOST_BLOCKS)
    is_small &= total[end] - total[begin] <= 0.5 * max(float(total[-1]), 1.0)
    is_small[: page.count] = True
    return begin, end, is_small, np.vstack([original, page.count + number.reshape(LEVELS, page.count)])


def _words_of_blocks(page: Columns, original: Counts) -> tuple[Counts, Counts, int]:
    """Number the words of the page. Return the distinct words of each block, their blocks, and the number of words.

    Blocks that copy an earlier block have no words.
    """
    hashes, block = page.word_tokens
    length = page.word_lengths
    is_used = (original == np.arange(page.count))[block]
    is_word = is_used & (length >= SHORTEST)
    is_pair = is_used[1:] & (length[1:] == 1) & (length[:-1] == 1) & (block[1:] == block[:-1])
    both: Hashes = np.append(hashes[is_word], (hashes[1:] * _PAIR + hashes[:-1])[is_pair])
    distinct, number = np.unique(both, return_inverse=True)
    words = max(len(distinct), 1)
    pairs = np.unique(np.append(block[is_word], block[1:][is_pair]) * words + number.reshape(-1))
    return pairs % words, pairs // words, words
