"""Methods without training, site by site: quality where there is gold text, what survives where there are gold values.

    python benchmarks/template_methods.py cleanportaleval:DIR
    python benchmarks/template_methods.py wcxb:DIR --step 10 --methods everything longest-run
    python benchmarks/template_methods.py swde:DIR --step 3 --methods pagelets pagelets:k=5,s=1

A method sees all pages of a site before it cleans each of them. Of SWDE is shown how much text is kept and how many of
the attribute values that the whole text has; of other data sets the word F1, its mean and pooled over all words. Times
are CPU milliseconds a page; reading it, which every method needs, is the first row.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from victorpy.cleaner import Cleaner, read_document
from victorpy.config import load_config
from victorpy.datasets import GoldPage, read_dataset
from victorpy.document import CleanPage, Document
from victorpy.errors import VictorError
from victorpy.gold import parse_data
from victorpy.methods import CONFIG, load_method
from victorpy.outputs.text import render_text
from victorpy.scores import Score, word_f1

METHODS = "everything satisfiable-subtree longest-run pagelets dom-template text-template rtdm rtdm:text=yes"

Result = TypeVar("Result")


@dataclass(slots=True)
class Row:
    """What one method did on all pages."""

    scores: list[Score] = field(default_factory=list)
    kept: int = 0
    characters: int = 0
    survived: int = 0
    values: int = 0
    empty: int = 0
    learning: float = 0.0
    labelling: float = 0.0


def timed(function: Callable[[], Result]) -> tuple[Result, float]:
    """Call a function, with a look at the clock."""
    began = time.process_time()
    return function(), time.process_time() - began


def flat(text: str) -> str:
    """A text as values are looked for in it."""
    return " ".join(text.lower().split())


def run_site(cleaner: Cleaner, pages: Sequence[GoldPage], documents: Sequence[Document], row: Row) -> None:
    """Let a method see a site and clean its pages."""
    here, seconds = timed(lambda: cleaner.at_site(iter(documents)))
    row.learning += seconds
    for page, document in zip(pages, documents, strict=True):
        labelling, seconds = timed(lambda document=document: here.labeller.label(document))  # type: ignore[misc]
        row.labelling += seconds
        add_page(row, page, document, render_text(CleanPage(document, labelling.labels)))


def add_page(row: Row, page: GoldPage, document: Document, output: str) -> None:
    """Count what a method made of a page."""
    row.empty += not output.strip()
    row.scores.append(word_f1(output, page.text))
    whole, found = flat(" ".join(block.text for block in document.blocks)), flat(output)
    values = [value for value in (flat(segment.text) for segment in page.gold) if value in whole]
    row.kept += len(found)
    row.characters += len(whole)
    row.values += len(values)
    row.survived += sum(value in found for value in values)


def columns(row: Row, kind: str) -> list[str]:
    """The cells of a method's row."""
    pages = len(row.scores)
    if kind == "swde":
        shown = [f"{row.kept / row.characters:.2f}", f"{row.survived / max(row.values, 1):.3f}"]
    else:
        pooled = Score.pool(row.scores)
        shares = (sum(score.f1 for score in row.scores) / pages, pooled.f1, pooled.precision, pooled.recall)
        shown = [f"{share:.3f}" for share in shares]
    return [*shown, str(row.empty), f"{row.learning / pages * 1000:.1f}", f"{row.labelling / pages * 1000:.1f}"]


def read_sites(kind: str, spec: str, step: int) -> dict[str, list[GoldPage]]:
    """The pages of a data set by their site; SWDE's sites are its directories."""
    sites: dict[str, list[GoldPage]] = defaultdict(list)
    for number, page in enumerate(read_dataset(kind, parse_data(spec)[1], lambda _: None)):
        if number % step == 0:
            sites[page.name.partition("/")[0] if kind == "swde" else page.site].append(page)
    return sites


def read_all(pages: Sequence[GoldPage]) -> list[Document]:
    """Read pages as methods without a config of their own do."""
    config = load_config(CONFIG)
    return [read_document(page.html, config, page.url) for page in pages]


def run(spec: str, methods: Sequence[str], step: int) -> None:
    """Run all methods on a data set and print a table."""
    kind = parse_data(spec)[0]
    cleaners = {name: load_method(name.partition(":")[0], _settings(name)) for name in methods}
    rows = {name: Row() for name in methods}
    reading = 0.0
    for pages in read_sites(kind, spec, step).values():
        documents, seconds = timed(lambda pages=pages: read_all(pages))  # type: ignore[misc]
        reading += seconds
        for name, cleaner in cleaners.items():
            run_site(cleaner, pages, documents, rows[name])
    count = len(next(iter(rows.values())).scores)
    measures = ["text kept", "values kept"] if kind == "swde" else ["word F1", "pooled", "precision", "recall"]
    head = ["method", *measures, "empty", "learn ms", "label ms"]
    print(f"{spec.partition(':')[0]}, {count} pages, {reading / count * 1000:.1f} ms to read one\n")
    for line in (head, ["---"] * len(head), *([name, *columns(row, kind)] for name, row in rows.items())):
        print(f"| {' | '.join(line)} |")


def _settings(method: str) -> list[str]:
    settings = method.partition(":")[2]
    return settings.split(",") if settings else []


def main() -> int:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="KIND:DIR")
    parser.add_argument("--methods", nargs="+", default=METHODS.split(), metavar="NAME[:SETTING,...]")
    parser.add_argument("--step", type=int, default=1, help="take every so many-th page")
    arguments = parser.parse_args()
    try:
        run(arguments.data, arguments.methods, max(arguments.step, 1))
    except VictorError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
