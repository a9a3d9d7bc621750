"""Measure title, author and date on WCXB's pages, and compare with trafilatura.

    python -m benchmarks.metadata wcxb/dev
    python -m benchmarks.metadata wcxb/dev --half even --errors author

Both get a page's text and its address. A value is right if

- title: it has the same words in the same order, letter case and punctuation aside;
- author: it names the same people, in whatever order and however they are joined;
- date: it is the same day, or the same month or year if the gold standard gives no more.

Precision is the share of right answers over all pages; an answer is wrong if the gold standard has none. Recall is the
share of the gold standard's values that are found. Word F1 compares the words of both texts, as a mean over the pages
that have a value. The rules were written while looking at pages with an even number; odd pages are held out.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy import Cleaner
from victorpy.description.metadata import read_metadata
from victorpy.page.decode import decode
from victorpy.page.parse import parse_whole
from victorpy.peers import installed_peers
from victorpy.research.scores import word_f1

FIELDS = ("title", "author", "date")
HALVES = ("even", "odd", "all")
_BETWEEN_NAMES = re.compile(r"\s*(?:;|,|&|/|\band\b)\s*")


class GoldFacts(NamedTuple):
    """A page's text and address, and its gold values."""

    name: str
    text: str
    url: str
    values: dict[str, str]


Reader = Callable[[str, str], dict[str, str]]  # from a page's text and its address to the three fields


@dataclass
class Count:
    """Results of one reader for one field."""

    given: int = 0
    answered: int = 0
    right: int = 0
    overlaps: list[float] = field(default_factory=list)

    def add(self, found: str, gold: str, right: bool) -> None:
        """Count one page."""
        self.given += bool(gold)
        self.answered += bool(found)
        self.right += right
        if gold:
            self.overlaps.append(word_f1(found, gold).f1)

    def row(self) -> list[str]:
        """Return precision, recall, F1 and word F1."""
        precision, recall = self.right / max(self.answered, 1), self.right / max(self.given, 1)
        f1 = 2 * self.right / max(self.answered + self.given, 1)
        return [f"{value:.3f}" for value in (precision, recall, f1, sum(self.overlaps) / max(len(self.overlaps), 1))]


def read_gold(directory: Path, half: str = "all") -> list[GoldFacts]:
    """Read the pages of a half; missing gold values are empty."""
    pages = []
    for truth in sorted((directory / "ground-truth").glob("*.json")):
        if is_of(truth.stem, half):
            record = json.loads(truth.read_bytes())
            gold = record["ground_truth"]
            values = {"title": gold["title"], "author": gold["author"], "date": gold["publish_date"]}
            text = decode((directory / "html" / f"{truth.stem}.html").read_bytes()).text
            pages.append(
                GoldFacts(
                    truth.stem, text, record.get("url") or "", {key: value or "" for key, value in values.items()}
                )
            )
    return pages


def is_of(name: str, half: str) -> bool:
    """Whether a page belongs to a half, by its number."""
    return half == "all" or HALVES[int(name) % 2] == half


def is_right(name: str, found: str, gold: str) -> bool:
    """Whether a value matches the gold standard, by the rules above."""
    if not found or not gold:
        return False
    if name == "date":
        return found.startswith(gold)
    if name == "author":
        return people(found) == people(gold)
    return normal(found) == normal(gold)


def people(text: str) -> set[str]:
    """Return the names in a text."""
    return {normal(name) for name in _BETWEEN_NAMES.split(text)} - {""}


def normal(text: str) -> str:
    """Return a text's words without case and punctuation."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def victorpy_reader(text: str, url: str) -> dict[str, str]:
    """Read a page with victorpy."""
    found = read_metadata(parse_whole(text), url)
    return {"title": found.title, "author": found.author, "date": found.date}


def trafilatura_reader(text: str, url: str) -> dict[str, str]:
    """Read a page with trafilatura."""
    from trafilatura import extract_metadata

    found = extract_metadata(text, default_url=url)
    return {name: getattr(found, name, None) or "" for name in FIELDS}


READERS: dict[str, Reader] = {"victorpy": victorpy_reader}
if "trafilatura" in installed_peers():
    READERS["trafilatura"] = trafilatura_reader


class Measured(NamedTuple):
    """The values that a reader found on each page, and its CPU times."""

    found: list[dict[str, str]]
    seconds: list[float]

    def of(self, chosen: list[int]) -> Measured:
        """Return the results of some pages."""
        return Measured([self.found[number] for number in chosen], [self.seconds[number] for number in chosen])


def measure(reader: Reader, pages: list[GoldFacts]) -> Measured:
    """Read all pages. The first is read twice, so that loading does not count."""
    reader(pages[0].text, pages[0].url)
    measured = Measured([], [])
    for page in pages:
        started = time.process_time()
        measured.found.append(reader(page.text, page.url))
        measured.seconds.append(time.process_time() - started)
    return measured


def counted(measured: Measured, pages: list[GoldFacts], name: str) -> Count:
    """Compare a field with the gold standard on all pages."""
    count = Count()
    for page, found in zip(pages, measured.found, strict=True):
        count.add(found[name], page.values[name], is_right(name, found[name], page.values[name]))
    return count


def describe(pages: list[GoldFacts], measured: dict[str, Measured]) -> str:
    """Return a table of fields and readers, and the CPU time of the readers."""
    rows = []
    for name in FIELDS:
        given = sum(bool(page.values[name]) for page in pages)
        for reader, its in measured.items():
            rows.append([name, str(given), reader, *counted(its, pages, name).row()])
    lines = [table(["field", "given", "reader", "precision", "recall", "F1", "word F1"], rows)]
    if "trafilatura" in measured:
        base = sum(measured["trafilatura"].seconds)
        lines += [
            f"\nCPU time of {name} : trafilatura = {sum(its.seconds) / base:.3f}"
            for name, its in measured.items()
            if name != "trafilatura"
        ]
    return "\n".join(lines)


def share_of_cleaning(pages: list[GoldFacts]) -> float:
    """Return the cost of metadata as a share of cleaning."""
    cleaner = Cleaner.load()
    seconds = {False: 0.0, True: 0.0}
    for page in [pages[0], *pages]:
        for metadata in (False, True):
            started = time.process_time()
            cleaner.document(page.text, page.url, metadata=metadata)
            seconds[metadata] += time.process_time() - started
    return seconds[True] / seconds[False] - 1


def show_errors(pages: list[GoldFacts], measured: dict[str, Measured], name: str) -> None:
    """Print the values that victorpy has wrong, and trafilatura's."""
    for number, page in enumerate(pages):
        found = measured["victorpy"].found[number][name]
        gold = page.values[name]
        if (found or gold) and not is_right(name, found, gold):
            others = [its.found[number][name] for reader, its in measured.items() if reader != "victorpy"]
            print(page.name, f"{gold!r} found {found!r}", *others, page.url, sep="\t")


def main() -> None:
    """Print the tables."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("directory", type=Path, help="WCXB: html/ and ground-truth/")
    parser.add_argument(
        "--half", choices=HALVES, help="only pages with an even or odd number (default: each half, and all)"
    )
    parser.add_argument("--readers", nargs="+", choices=READERS, default=list(READERS))
    parser.add_argument("--errors", choices=FIELDS, help="print the wrong values of a field")
    arguments = parser.parse_args()
    pages = read_gold(arguments.directory, arguments.half or "all")
    measured = {name: measure(READERS[name], pages) for name in arguments.readers}
    for half in [arguments.half] if arguments.half else HALVES:
        chosen = [number for number, page in enumerate(pages) if is_of(page.name, half)]
        own = [pages[number] for number in chosen]
        found = {name: its.of(chosen) for name, its in measured.items()}
        print(f"## {len(own)} pages ({half})\n\n{describe(own, found)}\n")
    if arguments.errors:
        show_errors(pages, measured, arguments.errors)
    else:
        print(f"Metadata adds {share_of_cleaning(pages):.0%} to the CPU time of cleaning.")


if __name__ == "__main__":
    run(main)
