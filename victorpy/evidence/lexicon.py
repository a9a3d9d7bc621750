"""What words say of a block: how often blocks with a token are content, on how many sites.

Three kinds of tokens are looked up: those of the names (tag, class, id, role, itemprop) of the elements around a
block, those of its own text, and those of the last heading. A site has one vote on a token, the share of content
among its blocks with that token, so that no large site decides what a word means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.columns.tokens import NEAR, Hashes, hash_words

# What a token's votes are held against: so many sites that vote like the average.
DOUBT = 2.0

# A token of fewer sites is left out: it may be one site's own.
FEWEST_SITES = 3

DIGITS = 3

# So many bits of a hash say where in a table it stands.
_SLOT_BITS = 17

KINDS = ("name", "word", "heading")

COLUMNS = (
    *(f"name{level}.{what}" for level in (0, 1, 2) for what in ("least", "most", "sum")),
    *(f"names.{what}" for what in ("least", "most", "sum")),
    *(f"word.{what}" for what in ("least", "most", "mean")),
    *(f"heading.{what}" for what in ("least", "most", "mean")),
)
"""What the columns are called: the lowest, highest and summed log-odds of the tokens of an element and so on."""


@dataclass(frozen=True)
class Table:
    """Tokens, by ascending hash, and their log-odds against the average block's."""

    hashes: Hashes
    odds: Floats

    def look_up(self, hashes: Hashes) -> Floats:
        """Give the log-odds of tokens, 0 for those that are not known."""
        if not len(self.hashes):
            return np.zeros(len(hashes))
        begins, most = self._slots
        at = np.take(begins, _first_bits(hashes))
        odds = np.zeros(len(hashes))
        for _ in range(most):  # faster than a search
            found = np.take(self.hashes, at, mode="clip") == hashes
            odds[found] = np.take(self.odds, at[found], mode="clip")
            at += 1
        return odds

    @cached_property
    def _slots(self) -> tuple[Counts, int]:
        """Where the hashes with the same first bits begin, and how many there are of the most frequent ones."""
        counts = np.bincount(_first_bits(self.hashes), minlength=1 << _SLOT_BITS)
        return np.cumsum(counts) - counts, int(counts.max())


def _first_bits(hashes: Hashes) -> Counts:
    return (hashes >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The log-odds of names' tokens, of words, and of headings' words."""

    tables: tuple[Table, ...]
    spellings: tuple[tuple[str, ...], ...] = ()
    """The tokens of each table, in its order; not needed to look any up."""

    def save(self, path: Path) -> None:
        """Write a line for each token: its kind, itself, its log-odds."""
        lines = [
            f"{kind}\t{token}\t{odds:.{DIGITS}f}\n"
            for kind, table, tokens in zip(KINDS, self.tables, self.spellings, strict=True)
            for token, odds in sorted(zip(tokens, table.odds.tolist(), strict=True))
        ]
        path.write_text("".join(lines), encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        """Read what `save` wrote."""
        rows: dict[str, tuple[list[str], list[float]]] = {kind: ([], []) for kind in KINDS}
        for line in path.read_bytes().decode("utf-8").split("\n")[:-1]:
            kind, token, odds = line.split("\t")
            tokens, values = rows[kind]
            tokens.append(token)
            values.append(float(odds))
        tables, spellings = [], []
        for tokens, values in rows.values():
            hashes = hash_words(tokens)
            order = np.argsort(hashes)
            tables.append(Table(hashes[order], np.array(values)[order]))
            spellings.append(tuple(tokens[number] for number in order))
        return cls(tuple(tables), tuple(spellings))

    def columns(self, page: Columns) -> npt.NDArray[np.float32]:
        """What the lexicon says of a page's blocks: a row for each of COLUMNS."""
        if not page.count:
            return np.zeros((len(COLUMNS), 0), dtype=np.float32)
        names, words, headings = self.tables
        own = _spread(words.look_up(page.word_tokens[0]), page.word_tokens[1], page.count)
        hashes, owner = _heading_words(page)
        heading = _spread(headings.look_up(hashes), owner, page.count)[:, _last_heading(page)]
        rows = [*self._names(names, page), own[0], own[1], own[2] / np.maximum(own[3], 1)]
        rows += [heading[0], heading[1], heading[2] / np.maximum(heading[3], 1)]
        return np.array(rows, dtype=np.float32)

    def _names(self, table: Table, page: Columns) -> list[Floats]:
        hashes, name = page.near_name_tokens
        different, name_of_element = page.near_names
        found = _spread(table.look_up(hashes), name, len(different))[:3]
        rows: list[Floats] = []
        chain = np.zeros((3, page.count))
        for level in range(NEAR):
            here = found[:, name_of_element[page.ancestor(level)]]
            if level < 3:
                rows += list(here)
            np.minimum(chain[0], here[0], out=chain[0])
            np.maximum(chain[1], here[1], out=chain[1])
            chain[2] += here[2]
        return [*rows, *chain]


def _spread(values: Floats, owner: Counts, count: int) -> Floats:
    """The lowest (0 at most), the highest (0 at least), the sum and the number of each owner's values."""
    rows = np.zeros((4, count))
    if len(values):
        starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        owners = owner[starts]
        rows[0, owners] = np.minimum(np.minimum.reduceat(values, starts), 0)
        rows[1, owners] = np.maximum(np.maximum.reduceat(values, starts), 0)
        rows[2, owners] = np.add.reduceat(values, starts)
        rows[3, owners] = np.diff(np.append(starts, len(values)))
    return rows


def _last_heading(page: Columns) -> Counts:
    """The last block in a heading at or before each block; the first block where there is none."""
    return np.maximum.accumulate(np.where(page.within("class-header"), np.arange(page.count), 0))


def _heading_words(page: Columns) -> tuple[Hashes, Counts]:
    hashes, owner = page.word_tokens
    kept = page.within("class-header")[owner]
    return hashes[kept], owner[kept]


# Learning.


class Vote(NamedTuple):
    """What one site says: the content and all blocks, by weight, that have a token."""

    hashes: Hashes
    content: Floats
    total: Floats

    @property
    def share(self) -> Floats:
        """The share of content."""
        return self.content / self.total


class Votes:
    """The votes of all sites on the tokens of one kind."""

    def __init__(self, sites: dict[str, Vote], base: float) -> None:
        self.sites = sites
        self.base = base
        everything = np.concatenate([vote.hashes for vote in sites.values()] or [np.zeros(0, dtype=np.uint64)])
        shares = np.concatenate([vote.share for vote in sites.values()] or [np.zeros(0)])
        self.hashes, where, sites_with = np.unique(everything, return_inverse=True, return_counts=True)
        self.count: Floats = sites_with.astype(np.float64)
        self.content: Floats = np.bincount(where.reshape(-1), shares, len(self.hashes)).astype(np.float64)

    def table(self, without: str | None = None) -> Table:
        """What the sites say together, one of them left out."""
        content, count = self.content, self.count
        if without in self.sites:
            vote = self.sites[without]
            at = np.searchsorted(self.hashes, vote.hashes)
            content, count = content.copy(), count.copy()
            content[at] -= vote.share
            count[at] -= 1
        enough = count >= FEWEST_SITES
        share = (content[enough] + self.base * DOUBT) / (count[enough] + DOUBT)
        share = np.clip(share, 0.001, 0.999)
        odds = np.log(share / (1 - share)) - np.log(self.base / (1 - self.base))
        return Table(self.hashes[enough], np.round(odds, DIGITS))


class Poll:
    """Collects what pages say of tokens."""

    def __init__(self) -> None:
        self._seen: list[dict[str, list[Vote]]] = [{} for _ in KINDS]
        self._shares: list[float] = []

    def add(self, page: Columns, content: Flags, site: str) -> None:
        """Count the tokens of a page whose blocks are content or not."""
        if not page.count:
            return
        weight = np.sqrt(np.minimum(page.words, 50) + 1)
        self._shares.append(float((weight * content).sum() / weight.sum()))
        for seen, (hashes, block) in zip(self._seen, _incidences(page), strict=True):
            tokens, number = np.unique(hashes, return_inverse=True)
            number = number.reshape(-1)
            total = _sums(number, weight[block], len(tokens))
            kept = _sums(number, (weight * content)[block], len(tokens))
            seen.setdefault(site, []).append(Vote(tokens, kept, total))

    def votes(self) -> list[Votes]:
        """Give the votes on names, words and headings."""
        base = float(np.clip(np.mean(self._shares or [0.5]), 0.01, 0.99))
        return [Votes({site: _merged(votes) for site, votes in seen.items()}, base) for seen in self._seen]


def _incidences(page: Columns) -> Iterable[tuple[Hashes, Counts]]:
    """For each kind, the tokens and the blocks that have them, each pair once."""
    hashes, name = page.near_name_tokens
    _, name_of_element = page.near_names
    blocks = np.arange(page.count)
    pairs = np.concatenate([name_of_element[page.ancestor(level)] * page.count + blocks for level in range(NEAR)])
    pairs = np.unique(pairs)
    order = np.argsort(name, kind="stable")
    starts = np.searchsorted(name[order], np.arange(len(page.near_names[0]) + 1))
    its_names, its_blocks = pairs // page.count, pairs % page.count
    lengths = (starts[1:] - starts[:-1])[its_names]
    yield _unique_pairs(hashes[order][_ranges(starts[its_names], lengths)], np.repeat(its_blocks, lengths))
    yield _unique_pairs(*page.word_tokens)
    hashes, owner = _heading_words(page)
    by_heading = np.searchsorted(owner, _last_heading(page), side="left")
    until = np.searchsorted(owner, _last_heading(page), side="right")
    lengths = until - by_heading
    yield _unique_pairs(hashes[_ranges(by_heading, lengths)], np.repeat(blocks, lengths))


def _ranges(starts: Counts, lengths: Counts) -> Counts:
    """The numbers from each start on, so many of each, one range after the other."""
    return np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())


def _unique_pairs(hashes: Hashes, block: Counts) -> tuple[Hashes, Counts]:
    order = np.lexsort((hashes, block))
    hashes, block = hashes[order], block[order]
    fresh = np.append(True, (hashes[1:] != hashes[:-1]) | (block[1:] != block[:-1]))[: len(hashes)]
    return hashes[fresh], block[fresh]


def _sums(number: Counts, values: Floats, count: int) -> Floats:
    return np.bincount(number, values, count).astype(np.float64)


def _merged(votes: Sequence[Vote]) -> Vote:
    if len(votes) == 1:
        return votes[0]
    hashes, where = np.unique(np.concatenate([vote.hashes for vote in votes]), return_inverse=True)
    where = where.reshape(-1)
    content = _sums(where, np.concatenate([vote.content for vote in votes]), len(hashes))
    total = _sums(where, np.concatenate([vote.total for vote in votes]), len(hashes))
    return Vote(hashes, content, total)


def spell(tables: Sequence[Table], pages: Iterable[Columns]) -> tuple[tuple[str, ...], ...]:
    """Find out how the tokens of tables are written, from the pages that they were counted on."""
    known: list[dict[int, str]] = [{}, {}]
    wanted = [tables[0].hashes, np.union1d(tables[1].hashes, tables[2].hashes)]
    for page in pages:
        for tokens, spellings, hashes in zip(page.spelled_tokens(), known, wanted, strict=True):
            fresh, numbers = np.unique(tokens.hashes, return_index=True)
            for token, number in zip(
                fresh[np.isin(fresh, hashes)].tolist(), numbers[np.isin(fresh, hashes)], strict=True
            ):
                if token not in spellings:
                    spellings[token] = tokens.spell(int(number))
    names, words = known
    return tuple(
        tuple(spellings[token] for token in table.hashes.tolist())
        for table, spellings in zip(tables, (names, words, words), strict=True)
    )
