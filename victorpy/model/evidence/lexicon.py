"""A lexicon of tokens: how often blocks with a token are content, over many sites.

Tokens are looked up for the names (tag, class, id, role, itemprop) of the elements around a block, for its text, and
for the last heading. Each site has one vote on a token: the share of content among its blocks with that token, compared
with the share of content on the site. So no single large site determines the value of a word. And if the pages of a
language have little noise, its words do not all count as content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy import native
from victorpy.base.arrays import checked
from victorpy.base.files import read_bounded
from victorpy.columns import NEAR, Columns, Counts, Flags, Floats
from victorpy.columns.tokens import Hashes, code_points, hash_tokens

DOUBT = 2.0
"""Number of average votes that are added to the votes of each token."""

FEWEST_SITES = 3
"""Tokens on fewer sites are left out, because they may be specific to these sites."""

DIGITS = 3

MOST_BYTES = 50_000_000
"""Maximum size of a saved lexicon."""
FULLEST_SLOT = 200
"""Maximum number of tokens in a slot. A table of a million words has at most about 30 per slot."""

_SLOT_BITS = 17  # this many leading bits of a hash are its slot in a table

KINDS = ("name", "word", "heading")

_native = native.load("trees")

COLUMNS = (
    *(f"name{level}.{what}" for level in (0, 1, 2) for what in ("least", "most", "sum")),
    *(f"names.{what}" for what in ("least", "most", "sum")),
    *(f"word.{what}" for what in ("least", "most", "mean")),
    *(f"heading.{what}" for what in ("least", "most", "mean")),
)
"""The lowest and highest log-odds and their sum or mean, for tokens of names, words and headings."""


@dataclass(frozen=True)
class Table:
    """Hashes of tokens in ascending order, and the log-odds of blocks with the token relative to the average block."""

    hashes: Hashes
    odds: Floats

    def look_up(self, hashes: Hashes) -> Floats:
        """Return the log-odds of tokens, or 0 for unknown tokens."""
        if not len(self.hashes):
            return np.zeros(len(hashes))
        starts, most = self._slots
        if _native:
            found: Floats = _native.look_up(hashes, self.hashes, self.odds, starts, 64 - _SLOT_BITS)
            return found
        odds = np.zeros(len(hashes))
        row = np.take(starts, _slot(hashes))
        for _ in range(most):  # faster than a binary search
            is_same = np.take(self.hashes, row, mode="clip") == hashes
            odds[is_same] = np.take(self.odds, row[is_same], mode="clip")
            row += 1
        return odds

    @cached_property
    def _slots(self) -> tuple[npt.NDArray[np.int32], int]:
        """The first row of each slot, and the number of rows in the fullest slot."""
        counts = np.bincount(_slot(self.hashes), minlength=1 << _SLOT_BITS)
        return (np.cumsum(counts) - counts).astype(np.int32), int(counts.max())


def _slot(hashes: Hashes) -> Counts:
    return (hashes >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The tables of names, words and headings."""

    tables: tuple[Table, ...]
    text: str = ""
    """One line per token with its kind, spelling and log-odds. Only `save` needs it."""

    def save(self, path: Path) -> None:
        path.write_text(self.text, encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        """Read a lexicon that `save` wrote. Uses arrays for speed, because there are tens of thousands of lines."""
        text = read_bounded(path, MOST_BYTES).decode("utf-8")
        codes = code_points(text)
        ends = np.flatnonzero(codes == ord("\n"))
        tabs = np.flatnonzero(codes == ord("\t"))
        starts = np.append(0, ends + 1)
        if len(tabs) != 2 * len(ends) or starts[-1] != len(codes):
            raise ValueError("a line of its lexicon is not kind, token and log-odds")
        before, after = tabs[::2], tabs[1::2]
        if not ((starts[:-1] < before) & (before + 1 < after) & (after + 1 < ends)).all():
            raise ValueError("a line of its lexicon is not kind, token and log-odds")
        changes = np.zeros(len(codes), dtype=np.int8)
        changes[before + 1], changes[after] = 1, -1
        hashes = hash_tokens(codes, np.cumsum(changes, dtype=np.int8) > 0, changes > 0)
        changes[after] = 0
        changes[before + 1], changes[after + 1], changes[ends] = 0, 1, -1
        is_number = np.cumsum(changes, dtype=np.int8) > 0
        is_number[ends] = True
        numbers = codes[is_number]
        if (numbers > 127).any():
            raise ValueError("a log-odds of its lexicon is not a number")
        odds = checked(np.fromstring(numbers.astype(np.uint8).tobytes(), sep="\n"), np.float64, "log-odds")
        if len(odds) != len(ends):
            raise ValueError("a log-odds of its lexicon is not a number")
        first_letters = codes[starts[:-1]]
        tables = []
        for kind in KINDS:
            rows = np.flatnonzero(first_letters == ord(kind[0]))
            order = rows[np.argsort(hashes[rows])]
            tables.append(Table(hashes[order], odds[order]))
        if sum(len(table.hashes) for table in tables) != len(ends):
            raise ValueError(f"its lexicon has token kinds other than {', '.join(KINDS)}")
        if any(table._slots[1] > FULLEST_SLOT for table in tables):
            raise ValueError("too many tokens of its lexicon have similar hashes")
        return cls(tuple(tables), text)

    def columns(self, page: Columns, rows: npt.NDArray[np.float32] | None = None) -> npt.NDArray[np.float32]:
        """Look up the tokens of a page's blocks. Return one row for each of `COLUMNS`, or fill the given rows."""
        if rows is None:
            rows = np.empty((len(COLUMNS), page.count), dtype=np.float32)
        if not page.count:
            return rows
        name_table, word_table, heading_table = self.tables
        hashes, name = page.near_name_tokens
        names, name_of_element = page.near_names
        by_name = _summary(name_table.look_up(hashes), name, len(names))[:3]
        rows[:12] = _name_rows(by_name, name_of_element, page)
        hashes, block = page.word_tokens
        words = _summary(word_table.look_up(hashes), block, page.count)
        hashes, block = _heading_words(page)
        heading = _summary(heading_table.look_up(hashes), block, page.count)[:, _last_heading(page)]
        rows[12:14], rows[14] = words[:2], words[2] / np.maximum(words[3], 1)
        rows[15:17], rows[17] = heading[:2], heading[2] / np.maximum(heading[3], 1)
        return rows


def _name_rows(by_name: Floats, name_of_element: Counts, page: Columns) -> Floats:
    """Return the summaries of names at the first three levels above a block, and of all `NEAR` levels together."""
    if _native:
        native_rows: Floats = _native.name_rows(by_name, name_of_element, page.ancestors, NEAR)
        return native_rows
    rows = np.zeros((12, page.count))
    for level in range(NEAR):
        by_block = by_name[:, name_of_element[page.ancestor(level)]]
        if level < 3:
            rows[3 * level : 3 * level + 3] = by_block
        np.minimum(rows[9], by_block[0], out=rows[9])
        np.maximum(rows[10], by_block[1], out=rows[10])
        rows[11] += by_block[2]
    return rows


def _summary(values: Floats, owner: Counts, count: int) -> Floats:
    """Return the minimum (at most 0), maximum (at least 0), sum and count of each owner's values."""
    if _native:
        summaries: Floats = _native.summary(values, owner, count)
        return summaries
    rows = np.zeros((4, count))
    if len(values):
        np.minimum.at(rows[0], owner, values)
        np.maximum.at(rows[1], owner, values)
        rows[2] = np.bincount(owner, values, count)
        rows[3] = np.bincount(owner, minlength=count)
    return rows


def _last_heading(page: Columns) -> Counts:
    """Return the last heading block up to and including each block, or the first block of the page."""
    return np.maximum.accumulate(np.where(page.within("class-header"), np.arange(page.count), 0))


def _heading_words(page: Columns) -> tuple[Hashes, Counts]:
    hashes, owner = page.word_tokens
    kept = page.within("class-header")[owner]
    return hashes[kept], owner[kept]


# Training.


class Vote(NamedTuple):
    """The vote of a site: for each token, the total weight of content blocks and of all blocks that contain it."""

    hashes: Hashes
    content: Floats
    total: Floats

    @property
    def share(self) -> Floats:
        return self.content / self.total


class Votes:
    """The votes of all sites on the tokens of one kind."""

    def __init__(self, sites: dict[str, Vote], base: float) -> None:
        self.sites = sites
        self.base = base
        hashes = np.concatenate([vote.hashes for vote in sites.values()] or [np.zeros(0, dtype=np.uint64)])
        shares = np.concatenate([vote.share for vote in sites.values()] or [np.zeros(0)])
        self.hashes, where, sites_with = np.unique(hashes, return_inverse=True, return_counts=True)
        self.count: Floats = sites_with.astype(np.float64)
        self.content = _sums(where, shares, len(self.hashes))

    def table(self, without: str | None = None, fewest: int = FEWEST_SITES) -> Table:
        """Return the log-odds from the votes of all sites.

        `without` excludes the vote of one site, and the table then contains only the tokens of this site. Tokens on
        fewer than `fewest` sites are left out.
        """
        hashes, content, count = self.hashes, self.content, self.count
        if without in self.sites:
            vote = self.sites[without]
            at = np.searchsorted(hashes, vote.hashes)
            hashes, content, count = vote.hashes, content[at] - vote.share, count[at] - 1
        enough = count >= fewest
        share = (content[enough] + self.base * DOUBT) / (count[enough] + DOUBT)
        share = np.clip(share, 0.001, 0.999)
        odds = np.log(share / (1 - share)) - np.log(self.base / (1 - self.base))
        return Table(hashes[enough], np.round(odds, DIGITS))


class Poll:
    """Collects votes from pages."""

    def __init__(self) -> None:
        self._votes: list[dict[str, list[Vote]]] = [{} for _ in KINDS]
        self._shares: dict[str, list[float]] = {}

    def add(self, page: Columns, content: Flags, site: str, known: Flags | None = None) -> None:
        """Count the tokens of a page. Labels may be missing for some of the blocks."""
        if not page.count:
            return
        weight = np.sqrt(np.minimum(page.words, 50) + 1) * (1.0 if known is None else known)
        if known is None or known.all():
            self._shares.setdefault(site, []).append(float((weight * content).sum() / weight.sum()))
        for votes, pairs in zip(self._votes, _tokens_of_blocks(page), strict=True):
            order = np.lexsort(pairs)
            hashes, block = pairs[0][order], pairs[1][order]
            is_new = np.append(True, (hashes[1:] != hashes[:-1]) | (block[1:] != block[:-1]))[: len(hashes)]
            tokens, number = np.unique(hashes[is_new], return_inverse=True)
            total = _sums(number, weight[block[is_new]], len(tokens))
            kept = _sums(number, (weight * content)[block[is_new]], len(tokens))
            is_known = total > 0
            votes.setdefault(site, []).append(Vote(tokens[is_known], kept[is_known], total[is_known]))

    def votes(self) -> list[Votes]:
        """Return the votes on names, words and headings, relative to the share of content on each site."""
        shares = [share for its_shares in self._shares.values() for share in its_shares]
        base = float(np.clip(np.mean(shares or [0.5]), 0.01, 0.99))
        above = {site: float(np.mean(its_shares)) - base for site, its_shares in self._shares.items()}
        merged: list[dict[str, Vote]] = [{} for _ in KINDS]
        for merged_by_site, by_site in zip(merged, self._votes, strict=True):
            for site, votes in by_site.items():
                hashes, where = np.unique(np.concatenate([vote.hashes for vote in votes]), return_inverse=True)
                content = _sums(where, np.concatenate([vote.content for vote in votes]), len(hashes))
                total = _sums(where, np.concatenate([vote.total for vote in votes]), len(hashes))
                relative = np.clip(content - above.get(site, 0.0) * total, 0, total)
                merged_by_site[site] = Vote(hashes, relative, total)
        return [Votes(sites, base) for sites in merged]


def _tokens_of_blocks(page: Columns) -> Iterator[tuple[Hashes, Counts]]:
    """Yield the tokens of names, words and headings, each with the block of every token."""
    blocks = np.arange(page.count)
    hashes, name = page.near_name_tokens
    _, name_of_element = page.near_names
    names = np.concatenate([name_of_element[page.ancestor(level)] for level in range(NEAR)])
    pairs = np.unique(names * page.count + np.tile(blocks, NEAR))  # count each name around a block only once
    yield _tokens_of_owners(hashes, name, pairs // page.count, pairs % page.count)
    yield page.word_tokens
    hashes, heading = _heading_words(page)
    yield _tokens_of_owners(hashes, heading, _last_heading(page), blocks)


def _tokens_of_owners(hashes: Hashes, owner: Counts, wanted: Counts, block: Counts) -> tuple[Hashes, Counts]:
    """Return the tokens of each block's owner, and the block of each token. `owner` must be ascending.

    Example: owner 0 has the tokens a and b, owner 1 has c, and the blocks 5, 6 and 7 have the owners 1, 0 and 1.
    Then the tokens are c, a, b, c, and their blocks are 5, 6, 6, 7.
    """
    first = np.searchsorted(owner, wanted, side="left")
    lengths = np.searchsorted(owner, wanted, side="right") - first
    written = np.cumsum(lengths) - lengths  # number of tokens before those of each block
    tokens = np.repeat(first - written, lengths) + np.arange(lengths.sum())
    return hashes[tokens], np.repeat(block, lengths)


def _sums(number: Counts, values: Floats, count: int) -> Floats:
    return np.bincount(number.reshape(-1), values, count).astype(np.float64)


def spell(tables: Sequence[Table], pages: Iterable[Columns]) -> str:
    """Return one line per token of the tables. Spellings are taken from the training pages."""
    names, words = dict[int, str](), dict[int, str]()
    name_hashes, word_hashes = tables[0].hashes, np.union1d(tables[1].hashes, tables[2].hashes)
    for page in pages:
        name_tokens, word_tokens = page.spelled_tokens()
        for tokens, wanted, spellings in ((name_tokens, name_hashes, names), (word_tokens, word_hashes, words)):
            distinct, numbers = np.unique(tokens.hashes, return_index=True)
            is_wanted = np.isin(distinct, wanted)
            for token, number in zip(distinct[is_wanted].tolist(), numbers[is_wanted].tolist(), strict=True):
                if token not in spellings:
                    spellings[token] = tokens.spell(number)
    lines = []
    for kind, table, spellings in zip(KINDS, tables, (names, words, words), strict=True):
        rows = zip(map(spellings.__getitem__, table.hashes.tolist()), table.odds.tolist(), strict=True)
        lines += [f"{kind}\t{token}\t{odds:.{DIGITS}f}\n" for token, odds in sorted(rows)]
    return "".join(lines)
