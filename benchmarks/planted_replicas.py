"""Plant copies among pages that fill the same forms, clean them with `--dedup`, and count which are called replicas.

    python -m benchmarks.planted_replicas --data swde:DIR [--step N] [--seed 8] [--dedup pages] [--work DIR]

Each page gets one copy, made in one of seven ways. Two kinds of true duplicates are counted separately: pages with the
same values (the gold of SWDE) except dates, and pages of two sites if all numbers of one, at least four, are on the
other. `--work` keeps pages and output, and uses pages again that are there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import lxml.html
import numpy as np

from benchmarks.lib.command import make_parser
from benchmarks.lib.command import run as run_benchmark
from benchmarks.lib.pages import ROOT, read_pages
from benchmarks.lib.replica_pages import SEED, transplant
from benchmarks.lib.tables import table
from victorpy.cleaner import Cleaner
from victorpy.document import Label
from victorpy.page.decode import decode
from victorpy.page.markup import escape
from victorpy.research.datasets import GoldPage
from victorpy.research.gold import LabelledPage

WAYS = {
    "exact": "the same bytes at another address of the site",
    "other address": "the same bytes on another site",
    "other frame": "the content in the template of another site",
    "reordered": "rows, items and paragraphs in another order",
    "changed date": "other dates, and a line with the date of an update",
    "truncated": "without the last 30 to 50 % of the content",
    "comment": "with a comment of 20 to 60 random words after the content",
}
DATE = re.compile(r"\b\d{1,2}[/-]\d{1,2}[/-](?:20)?\d\d\b|\b[A-Z][a-z]{2,8} \d{1,2}, 20\d\d\b|\b20\d\d-\d\d-\d\d\b")
NUMBER, WORD = re.compile(r"\d[\d.,]*"), re.compile(r"\w+")
FEWEST_NUMBERS = 4
KINDS = ("same values", "same numbers", "wrong")
TITLE = re.compile(r"<title\b.*?</title>", re.IGNORECASE | re.DOTALL)
SHUFFLED = frozenset(["p", "li", "tr", "dd"])


class Planted(NamedTuple):
    """A page of the run."""

    name: str
    way: str  # how it was copied; empty for an original
    values: list[str]


def main() -> None:
    """Make the pages, clean them, and count."""
    parser = make_parser(__doc__)
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the random choices")
    parser.add_argument("--dedup", default="pages", help="the method (default: pages)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default: 2)")
    parser.add_argument("--work", type=Path, help="a directory to keep pages and output in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        pages = work / "pages.jsonl"
        if not pages.exists():
            gold = [sampled.gold for sampled in read_pages(arguments.data, arguments.step)]
            write_pages(gold, random.Random(arguments.seed), pages)
        run(arguments, pages, work / "out.jsonl")
        report(pages, work / "out.jsonl")


def write_pages(gold: list[GoldPage], chance: random.Random, path: Path) -> None:
    """Write all pages and their copies in a random order."""
    cleaner = Cleaner.load()
    records = []
    ways = list(WAYS)
    for number, page in enumerate(gold):
        values = sorted(segment.text for segment in page.gold)
        html = decode(page.html).text
        way = ways[number % len(ways)]
        template = chance.choice([other for other in gold if site(other) != site(page)])
        copy = make_copy(way, labelled(cleaner, page), html, template, cleaner, chance)
        address = {"other address": "http://mirror.example/", "other frame": template.url.rpartition("/")[0] + "/"}
        copy_url = f"{address.get(way, page.url.rpartition('/')[0] + '/')}copy-{page.name.replace('/', '-')}"
        records.append({"url": page.url, "html": html, "name": page.name, "way": "", "values": values})
        records.append({"url": copy_url, "html": copy, "name": page.name, "way": way, "values": values})
    chance.shuffle(records)
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)
    temporary.replace(path)


def site(page: GoldPage) -> str:
    """Return the folder of a page."""
    return page.name.partition("/")[0]


def labelled(cleaner: Cleaner, page: GoldPage) -> LabelledPage:
    """Return a page with the labels of the cleaner, because the gold is not a text."""
    cleaned = cleaner.document(page.html, page.url)
    return LabelledPage(page.name, "", site(page), page.page_type, cleaned.document, tuple(cleaned.labels), page.gold)


def make_copy(
    way: str, page: LabelledPage, html: str, template: GoldPage, cleaner: Cleaner, chance: random.Random
) -> str:
    """Return a copy of a page as HTML."""
    content = [
        number for number, label in enumerate(page.labels) if label.is_content and page.document.blocks[number].text
    ]
    match way:
        case "other frame" if content:
            return with_title(transplant(page, labelled(cleaner, template)), page.document.title)
        case "reordered":
            return reordered(html, chance)
        case "changed date":
            day = f"{chance.randint(1, 12)}/{chance.randint(1, 28)}/2012"
            dated = DATE.sub(day, html)
            update = f"<p>Last updated on March {chance.randint(1, 28)}, 2012</p></body>"
            return re.sub("</body>", update, dated, count=1, flags=re.IGNORECASE)
        case "truncated" if content:
            counts = np.cumsum([len(page.document.blocks[number].text.split()) for number in content])
            lost = content[int(np.searchsorted(counts, chance.uniform(0.5, 0.7) * counts[-1])) + 1 :]
            labels = tuple(Label.OTHER if number in lost else label for number, label in enumerate(page.labels))
            return with_title(transplant(replace(page, labels=labels), page), page.document.title)
        case "comment":
            said = " ".join(cleaner.document(template.html).document.texts).split()
            words = " ".join(chance.choices(said, k=chance.randint(20, 60)))
            author = f"<p><b>{chance.choice('ABCD')}. said:</b></p>"
            comment = f"<div class='comment'>{author}<p>{words.capitalize()}.</p></div>"
            after = page.document.blocks[content[-1]].text if content else ""
            return inserted(html, after, comment)
    return html


def with_title(html: str, title: str) -> str:
    """Replace the title of a page."""
    return TITLE.sub("", html).replace("<body", f"<title>{escape(title)}</title><body", 1)


def reordered(html: str, chance: random.Random) -> str:
    """Shuffle rows, items and paragraphs among their siblings."""
    tree = parse(html)
    for parent in list(tree.iter()):
        children = [child for child in parent if child.tag in SHUFFLED] if isinstance(parent.tag, str) else []
        if len(children) > 2 and len({child.tag for child in children}) == 1:
            places = sorted(parent.index(child) for child in children)
            for child in children:
                parent.remove(child)
            chance.shuffle(children)
            for place, child in zip(places, children, strict=True):
                parent.insert(place, child)
    return str(lxml.html.tostring(tree, encoding="unicode"))


def inserted(html: str, after: str, comment: str) -> str:
    """Insert markup after the block with a text, or at the end of the page."""
    tree = parse(html)
    wanted = " ".join(after.split())
    for element in reversed(list(tree.iter())):
        if isinstance(element.tag, str) and wanted and " ".join(element.text_content().split()) == wanted:
            element.addnext(lxml.html.fragment_fromstring(comment))
            return str(lxml.html.tostring(tree, encoding="unicode"))
    return html.replace("</body>", f"{comment}</body>", 1)


def parse(html: str) -> Any:
    """Parse a page. A declaration of an encoding would be wrong for text."""
    return lxml.html.document_fromstring(re.sub(r"^\s*<\?xml[^>]*>", "", html))


def run(arguments: argparse.Namespace, pages: Path, output: Path) -> None:
    """Clean the pages with the command."""
    options = ["--dedup", arguments.dedup, "-j", str(arguments.jobs), "-o", f"{output}/", "--force"]
    subprocess.run([sys.executable, str(ROOT / "clean.py"), str(pages), *options], check=True)


def report(pages: Path, output: Path) -> None:
    """Print which copies were found, by way, and which other pages were called replicas, by site."""
    planted = [Planted(fields["name"], fields["way"], fields["values"]) for fields in map(json.loads, pages.open("rb"))]
    statuses: dict[int, str] = {}
    repeats: dict[int, int] = {}
    for row in rows(output):
        statuses[row["position"]] = row["status"]
        if row["status"] == "replica":
            repeats[row["position"]] = row["repeats"]["position"]
    print_copies(planted, statuses, repeats)
    print_errors(planted, repeats)


def rows(output: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of an output directory."""
    for part in sorted(output.glob("part-*")):
        yield from map(json.loads, part.read_bytes().splitlines())


def print_copies(planted: list[Planted], statuses: dict[int, str], repeats: dict[int, int]) -> None:
    """Print how many pairs of a page and its copy were found. Pages without text have no replicas."""
    pairs: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(planted):
        pairs[page.name].append(number)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for numbers in pairs.values():
        way = next(planted[number].way for number in numbers if planted[number].way)
        ends = {statuses.get(number, "missing") for number in numbers}
        end = "replica" if "replica" in ends else "empty" if ends - {"kept"} else "missed"
        counts[way][end] += 1
        counts["all"][end] += 1
        if end == "missed":
            print("missed", way, *numbers)
    lines = []
    for way, found in counts.items():
        share = found["replica"] / max(found["replica"] + found["missed"], 1)
        lines.append([way, found.total(), found["empty"], found["replica"], f"{share:.1%}"])
    print(table(["copies", "planted", "without text", "found", "share"], lines))


def print_errors(planted: list[Planted], repeats: dict[int, int]) -> None:
    """Print the pages that were called replicas of another page, by site."""
    sites: dict[str, Counter[str]] = defaultdict(Counter)
    for number, page in enumerate(planted):
        folder = page.name.partition("/")[0]
        other = planted[repeats[number]] if number in repeats else page
        kind = "right" if other.name == page.name else relation(page, other)
        for name in (folder, "all"):
            sites[name]["pages"] += 1
            sites[name][kind] += 1
        if kind != "right":
            print(kind, number, repeats[number], page.name, other.name, page.way, page.values[:3], other.values[:3])
    lines = [
        [name, found["pages"], *(found[kind] for kind in KINDS), f"{found['wrong'] / found['pages']:.2%}"]
        for name, found in sorted(sites.items())
        if name == "all" or any(found[kind] for kind in KINDS)
    ]
    heads = ["replica of a page with the same values", "with the same numbers on another site", "of another page"]
    print(table(["site", "pages", *heads, "share"], lines))


def relation(page: Planted, other: Planted) -> str:
    """Return which of `KINDS` two pages are. Their dates may differ."""
    one, two = (" ".join(value for value in each.values if not DATE.search(value)) for each in (page, other))
    if sorted(WORD.findall(one.lower())) == sorted(WORD.findall(two.lower())):
        return KINDS[0]
    is_elsewhere = page.name.partition("/")[0] != other.name.partition("/")[0]
    fewer, more = sorted((set(NUMBER.findall(one)), set(NUMBER.findall(two))), key=len)
    return KINDS[1] if is_elsewhere and len(fewer) >= FEWEST_NUMBERS and fewer <= more else KINDS[2]


if __name__ == "__main__":
    run_benchmark(main)
