"""Clean a batch of many pages with planted replicas, and count which are removed.

    python -m benchmarks.planted_replicas --data wcxb:DIR dragnet:DIR l3s:DIR [--count 20000] [--dedup minhash]

Every page consists of paragraphs of real pages, in the template of a real page; no two pages have the same paragraphs.
A fifth of the pages are repeated in one of four ways. Then `victor clean --dedup` runs over all of them.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from benchmarks.lib.command import make_parser
from benchmarks.lib.command import run as run_benchmark
from benchmarks.lib.pages import ROOT
from benchmarks.lib.replica_pages import LONG_WORDS, SEED, noise, page_with, topic_pages, word_count
from victorpy.research.gold import LabelledPage

PLANTED_SHARE = 0.2
WORDS = (150, 600)
"""Range of the length of a page's content."""
PARAGRAPH_WORDS = (25, 80)
"""A longer one, used twice, would make two pages replicas that are not planted."""
TEMPLATES = 200
MOST_TEMPLATE_WORDS = 600
MOST_LONG_WORDS = 60
"""Limits of the words of a template, in all and in long blocks, so that it is shorter than the content."""
SOURCES = 900
"""Number of real pages that templates and paragraphs are taken from."""

WAYS = {
    "exact copy": "the same bytes at another address",
    "same template": "the same content, with another date and other numbers in the template",
    "other template": "the same content in the template of another page",
    "edited": "in another template, with a paragraph less and a sentence more",
}


class Made(NamedTuple):
    """A page that was made."""

    paragraphs: list[str]
    template: int
    number: int
    """Number of the original."""
    way: str = ""
    """How it repeats the original; empty for an original."""


def main() -> None:
    """Make the pages, clean them, and count."""
    parser = make_parser(__doc__, step=False)
    parser.add_argument("--count", type=int, default=20_000, help="pages in all (default: 20,000)")
    parser.add_argument("--dedup", default="minhash", help="the method (default: minhash)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default: 2)")
    parser.add_argument("--work", type=Path, help="a directory to keep pages and output in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        plan = planned(arguments.data, arguments.count, work / "pages.jsonl")
        run(arguments, work)
        report(plan, work / "out.jsonl")


def planned(specs: Sequence[str], count: int, path: Path) -> list[Made]:
    """Make the pages, in an order in which replicas come after their originals."""
    gold = topic_pages(specs, SOURCES)
    chance = random.Random(SEED)
    originals = list(_originals(gold, int(count * (1 - PLANTED_SHARE)), chance))
    plan = [Made(paragraphs, chance.randrange(TEMPLATES), number) for number, paragraphs in enumerate(originals)]
    for _ in range(count - len(plan)):
        original = chance.choice(plan[: len(originals)])
        plan.append(_repeated(original, chance.choice(list(WAYS)), chance))
    templates = [page for page in gold if _is_template(page)][:TEMPLATES]
    if len(templates) < TEMPLATES:
        raise SystemExit(f"there are {len(templates)} templates, but {TEMPLATES} are needed: give more data")
    with path.open("w", encoding="utf-8") as lines:
        for number, made in enumerate(plan):
            html = _page(made, templates)
            lines.write(json.dumps({"url": f"http://made.example/{number}", "html": html}) + "\n")
    return plan


def _originals(gold: Sequence[LabelledPage], count: int, chance: random.Random) -> Iterator[list[str]]:
    """Yield contents made of paragraphs. A paragraph is used again only when all have been used."""
    pool = sorted({text for page in gold for text in _paragraphs(page)})
    left: list[str] = []
    for _ in range(count):
        content: list[str] = []
        wanted = chance.randint(*WORDS)
        while sum(len(text.split()) for text in content) < wanted:
            if not left:
                left = chance.sample(pool, len(pool))
            content.append(left.pop())
        yield content


def _paragraphs(page: LabelledPage) -> Iterator[str]:
    for block, label in zip(page.document.blocks, page.labels, strict=True):
        if label.is_content and PARAGRAPH_WORDS[0] <= word_count(block) <= PARAGRAPH_WORDS[1]:
            yield block.text


def _is_template(page: LabelledPage) -> bool:
    """Whether a page without its content has little text: a gold standard may miss half of an article."""
    counts = [word_count(block) for block in noise(page)]
    return (
        sum(counts) <= MOST_TEMPLATE_WORDS and sum(count for count in counts if count >= LONG_WORDS) <= MOST_LONG_WORDS
    )


def _repeated(original: Made, way: str, chance: random.Random) -> Made:
    paragraphs = list(original.paragraphs)
    template = original.template
    if way in {"other template", "edited"}:
        template = (template + chance.randrange(1, TEMPLATES)) % TEMPLATES
    if way == "edited":
        if len(paragraphs) > 3:
            del paragraphs[chance.randrange(len(paragraphs))]
        paragraphs.append(f"This article was first published elsewhere, on {chance.randint(1, 28)} May 2024.")
    return Made(paragraphs, template, original.number, way)


def _page(made: Made, templates: Sequence[LabelledPage]) -> str:
    content = "".join(f"<p>{escape(text)}</p>" for text in made.paragraphs)
    page = page_with(f"<div>{content}</div>", templates[made.template])
    if made.way == "same template":
        notice = "<div class='footer'><a href='/login'>Log in (17)</a> <span>Today is 3 June 2024</span></div>"
        return page.replace("</body>", f"{notice}</body>", 1)
    return page


def run(arguments: argparse.Namespace, work: Path) -> None:
    """Clean the pages with the command."""
    options = ["--dedup", arguments.dedup, "-j", str(arguments.jobs), "-o", f"{work / 'out.jsonl'}/"]
    command = [sys.executable, str(ROOT / "clean.py"), str(work / "pages.jsonl"), *options]
    start = time.monotonic()
    subprocess.run(command, check=True, env={"PYTHONPATH": str(ROOT)})
    size = (work / "out.jsonl" / ".replicas.sqlite").stat().st_size
    print(
        f"{time.monotonic() - start:,.0f} s, the index of kept pages has {size / arguments.count:,.0f} bytes per page"
    )


def report(plan: Sequence[Made], output: Path) -> None:
    """Print which planted replicas were removed, by the way they were planted, and which other pages."""
    gone: dict[int, int] = {}
    for part in sorted(output.glob("part-*")):
        for line in part.read_bytes().splitlines():
            row = json.loads(line)
            if row["status"] == "replica":
                gone[_number(row["url"])] = _number(row["repeats"]["url"])
    planted = Counter(made.way for made in plan if made.way)
    removed = Counter(made.way for number, made in enumerate(plan) if made.way and number in gone)
    rightly = sum(plan[late].number == plan[early].number for late, early in gone.items())
    print("| planted | pages | gone |\n|---|---|---|")
    for way, words in WAYS.items():
        print(f"| {way}: {words} | {planted[way]:,} | {removed[way]:,} ({removed[way] / max(planted[way], 1):.1%}) |")
    print(f"| not planted | {len(plan) - sum(planted.values()):,} | {sum(not plan[late].way for late in gone):,} |")
    print(f"gone {len(gone):,}, of them {rightly:,} for the page that they were made from")
    for late, early in gone.items():
        if plan[late].number != plan[early].number:
            print(f"wrong: {late} ({plan[late].way or 'not planted'}) for {early}")


def _number(url: str) -> int:
    return int(url.rpartition("/")[2])


if __name__ == "__main__":
    run_benchmark(main)
