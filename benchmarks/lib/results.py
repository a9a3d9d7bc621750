"""What a comparison found: the scores of every page, written and read as JSON, and shown as Markdown tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.lib.cleaners import BASE
from victorpy.research.statistics import Summary, compare, summarise

FEWEST = 10
"""Fewer pages than this have no interval worth showing."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What one cleaner made of one page."""

    f1: float
    precision: float
    recall: float
    seconds: float
    """CPU time."""
    empty: bool
    """Whether not a word came out although the gold has some."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page and what every cleaner made of it."""

    data: str
    name: str
    page_type: str
    cleaned: dict[str, Cleaned]


@dataclass(frozen=True, slots=True)
class Results:
    """The pages of a comparison, and how they were come by."""

    story: dict[str, str]
    """Date, command, versions and machine."""
    trained_on: dict[str, list[str]]
    """Which of the data sets each model was trained on."""
    pages: list[Page]

    @property
    def cleaners(self) -> list[str]:
        """The names of all cleaners, the first model of victorpy first."""
        return list(self.pages[0].cleaned)

    @property
    def sets(self) -> list[str]:
        """The data sets in the order in which they were given."""
        return list(dict.fromkeys(page.data for page in self.pages))

    @property
    def base(self) -> str:
        """Whose CPU time is 1."""
        return BASE if BASE in self.cleaners else self.cleaners[0]

    def of(self, data: str) -> list[Page]:
        """The pages of one data set."""
        return [page for page in self.pages if page.data == data]

    def was_trained_on(self, data: str) -> bool:
        """Whether some model was trained on a data set."""
        return any(data in sets for sets in self.trained_on.values())

    def save(self, path: Path) -> None:
        """Write everything as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Results:
        """Read what `save` wrote."""
        found = json.loads(path.read_bytes())
        pages = [
            Page(**page | {"cleaned": {name: Cleaned(**cleaned) for name, cleaned in page["cleaned"].items()}})
            for page in found.pop("pages")
        ]
        return cls(**found, pages=pages)


def word_f1(pages: Iterable[Page], cleaner: str) -> list[float]:
    """The word F1 of every page."""
    return [page.cleaned[cleaner].f1 for page in pages]


def quality(pages: Iterable[Page], cleaner: str) -> Summary:
    """The mean word F1 with its interval."""
    return summarise(word_f1(pages, cleaner))


def milliseconds(pages: Sequence[Page], cleaner: str) -> float:
    """CPU time a page."""
    return 1000 * sum(page.cleaned[cleaner].seconds for page in pages) / len(pages)


def markdown(results: Results, picture: str = "") -> str:
    """Everything as Markdown."""
    parts = ["# victorpy compared with other cleaners", _story(results), _note(results), _overview(results)]
    parts += [f"![Word F1 against CPU time]({picture})"] if picture else []
    for data in results.sets:
        pages = results.of(data)
        parts += [f"## {_title(results, data)}", _scores(results, pages), _differences(results, pages)]
    return "\n\n".join(parts) + "\n"


def _story(results: Results) -> str:
    return "\n".join(f"- {what}: {said}" for what, said in results.story.items())


def _note(results: Results) -> str:
    said = (
        "Quality is the word F1 of WCXB (overlap of the words of output and gold, as multisets), the mean over pages; "
        f"in brackets the 95 % interval of resampling pages, from {FEWEST} pages on. "
        "All cleaners ran in one process, page by page in turn. "
        f"CPU is that of cleaning bytes to text, as a ratio to {results.base} in the same run. "
        "A page is empty where no word came out although its gold has some. jusText has to be told a page's language "
        "and is told English."
    )
    trained = [
        f"The model of {name} was trained on {', '.join(sets)} (marked †): its scores there are no measure of how it "
        "does on new pages."
        for name, sets in results.trained_on.items()
        if sets
    ]
    unseen = ["The pages of data/ (anno:data) are never trained on."] if "anno:data" in results.sets else []
    return "\n\n".join([said, *trained, *unseen])


def short(data: str) -> str:
    """A data set's name; one that lies in a directory of its own name is named once."""
    kind, _, name = data.partition(":")
    return kind if kind == name else data


def _title(results: Results, data: str) -> str:
    return f"{short(data)}{' †' if results.was_trained_on(data) else ''} ({len(results.of(data))} pages)"


def _overview(results: Results) -> str:
    head = [_title(results, data) for data in results.sets]
    rows = []
    for name in results.cleaners:
        cells = [show_quality(results.of(data), name) for data in results.sets]
        rows.append([name, *cells, *_costs(results, results.pages, name)])
    return table(["", *head, *_COSTS], rows)


_COSTS = ("CPU ratio", "ms a page", "empty")


def _costs(results: Results, pages: Sequence[Page], cleaner: str) -> list[str]:
    spent = milliseconds(pages, cleaner)
    empty = sum(page.cleaned[cleaner].empty for page in pages)
    return [f"{spent / milliseconds(pages, results.base):.3f}", f"{spent:.1f}", str(empty)]


def _scores(results: Results, pages: Sequence[Page]) -> str:
    """Word F1 of all pages and of each type, and the costs."""
    groups = _groups(pages)
    rows = [
        [name, *(show_quality(found, name) for found in groups.values()), *_costs(results, pages, name)]
        for name in results.cleaners
    ]
    return table(["word F1", *groups, *_COSTS], rows)


def _differences(results: Results, pages: Sequence[Page]) -> str:
    """How much better the first cleaner is than each other one on the same pages."""
    groups = _groups(pages)
    ours, *others = results.cleaners
    rows = [[name, *(show_difference(found, ours, name) for found in groups.values())] for name in others]
    shown = table([f"{ours} less", *groups], rows)
    return f"The paired difference of word F1, in bold where its interval leaves out 0:\n\n{shown}"


def _groups(pages: Sequence[Page]) -> dict[str, Sequence[Page]]:
    """All pages, then those of each type, where there are several."""
    groups = {"all pages": pages}
    kinds = sorted({page.page_type for page in pages if page.page_type})
    for kind in kinds if len(kinds) > 1 else []:
        found = [page for page in pages if page.page_type == kind]
        groups[f"{kind} ({len(found)})"] = found
    return groups


def show_quality(pages: Sequence[Page], cleaner: str) -> str:
    """Write a mean with its interval."""
    found = quality(pages, cleaner)
    interval = f" [{found.low:.3f}, {found.high:.3f}]" if found.count >= FEWEST else ""
    return f"{found.mean:.3f}{interval}"


def show_difference(pages: Sequence[Page], ours: str, theirs: str) -> str:
    """Write a mean difference with its interval."""
    found = compare(word_f1(pages, ours), word_f1(pages, theirs))
    if len(pages) < FEWEST:
        return f"{found.mean:+.3f}"
    bold = "**" if found.low > 0 or found.high < 0 else ""
    return f"{bold}{found.mean:+.3f}{bold} [{found.low:+.3f}, {found.high:+.3f}]"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
