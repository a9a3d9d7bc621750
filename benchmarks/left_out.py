"""Train without one data set (or one family of sets) at a time, and measure on it, next to other cleaners.

    python -m benchmarks.left_out --data wcxb:DIR dragnet:DIR l3s:DIR pages:A,pages:B --configs default mine.conf

Each argument of --data is a data set, or several sets joined by commas, which are left out together because they have
sites or a style in common. The verticals of SWDE are left out half by half. The trees and the net of each config are
trained on everything else, and the pages of the sets are cleaned with them. The sets of --always are trained on every
time and not measured.

The score of a set is the mean word F1 of its pages. In scripts without spaces a letter counts as a word. Headlines,
bylines and comments are dropped where the gold of a set has none (`WITHOUT`). Sets whose gold is only a part of the
content (values, recipes) show the share of the gold that is kept and the share of the page's words that is removed.
The row `mean` is the mean over all sets with F1: this number decides which config is better. Differences to the first
config are means over pages, or over sets in the last row, with their standard errors.

Training uses all pages; --step N measures on every N-th page. With --cache DIR, scores are stored by set and method,
and only missing ones are computed. Delete the directory after changes of the code. --save FILE writes the confidence
and the word F1 of each page with the first config, for `python -m benchmarks.reliability --results FILE`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy.base.score import Score
from victorpy.base.words import aligned_words
from victorpy.columns import Columns
from victorpy.config import Config, load_config
from victorpy.errors import DataError
from victorpy.model.evidence import Evidence, Keeping, fit_evidence, probabilities
from victorpy.model.evidence.cut import block_weights, expected_f1
from victorpy.model.evidence.inputs import load_tree_template
from victorpy.model.role_patterns import TITLE_SHARE
from victorpy.model.roles import find_bylines, find_comments
from victorpy.peers import PEERS, installed_peers, load_peer, versions
from victorpy.research.datasets import VALUE_KINDS, parse_data, read_dataset, set_name
from victorpy.research.gold import LabelledPage, load_gold

HEADLINE, BYLINE, COMMENTS = "headline", "byline", "comments"
WITHOUT = {
    "pages:newspaper": (HEADLINE, COMMENTS),
    "pages:wwwxmu": (HEADLINE, COMMENTS),
    "pages:fundus": (BYLINE, COMMENTS),
    "cleanportaleval": (COMMENTS,),
    "dragnet": (COMMENTS,),
    "l3s": (COMMENTS,),
    "wcxb": (COMMENTS,),
}
"""Parts that the gold of a set or of a kind of sets does not contain, by the description of its makers.

They are dropped from the output by rules, because the bundled trees for roles have seen the sets."""

Row = tuple[float, float, float]
"""F1 and 0, or the shares of gold kept and of words removed if the gold is partial; and the confidence, 0 of peers."""


@dataclass
class Part:
    """A data set, or a vertical of SWDE, that is left out with the others of its family."""

    name: str
    family: int
    pages: list[LabelledPage]
    measured: list[LabelledPage]
    """The pages that scores are measured on. Other families are trained on all pages."""
    scores: dict[str, list[Row]] = field(default_factory=dict)
    """The scores of each method, in the order of the measured pages."""

    @property
    def is_partial(self) -> bool:
        return self.pages[0].weights is not None


def read_parts(families: Sequence[str], config: Config, step: int) -> list[Part]:
    """Read all data sets. The halves of SWDE are families of their own."""
    parts: list[Part] = []
    for number, family in enumerate(families):
        for spec in family.split(","):
            pages = load_gold([spec], config, partial(print, file=sys.stderr))
            pages = [page for page in pages if page.document.blocks]
            if parse_data(spec)[0] not in VALUE_KINDS:
                parts.append(Part(set_name(spec), number, pages, pages[::step]))
                continue
            for half, vertical in enumerate(sorted({page.page_type for page in pages})):
                its_pages = [page for page in pages if page.page_type == vertical]
                family_number = -2 * number - 1 - half % 2
                parts.append(Part(f"{set_name(spec)}/{vertical}", family_number, its_pages, its_pages[::step]))
    return parts


def score(text: str, page: LabelledPage, confidence: float = 0.0) -> Row:
    """Score the text that a method keeps."""
    ours, gold = aligned_words(text), aligned_words("\n".join(part.text for part in page.gold))
    words = Score((Counter(ours) & Counter(gold)).total(), len(ours), len(gold))
    if page.weights is None:
        return words.f1, 0.0, confidence
    everything = sum(len(aligned_words(block.text)) for block in page.document.blocks)
    removed = 1 - len(ours) / max(everything, 1)
    if parse_data(page.data)[0] not in VALUE_KINDS:
        return words.recall, removed, confidence
    kept = f" {' '.join(ours)} "
    values = [f" {' '.join(value)} " for part in page.gold if (value := aligned_words(part.text))]
    return sum(value in kept for value in values) / max(len(values), 1), removed, confidence


def train(pages: Sequence[LabelledPage], columns: dict[int, Columns], config: Config) -> Evidence:
    """Train the trees and the net of a config on pages."""
    fitted = fit_evidence(
        [columns[id(page)] for page in pages],
        [np.array([label.is_content for label in page.labels]) for page in pages],
        [page.site for page in pages],
        config,
        partial(print, file=sys.stderr, flush=True),
        [page.weights for page in pages],
        with_findings=False,
    )
    return fitted.evidence


def clean(page: LabelledPage, columns: Columns, evidence: Evidence, config: Config, without: Sequence[str]) -> Row:
    """Score the text that the model keeps, without some parts."""
    content = probabilities(evidence.judge(columns).log_odds)
    kept = Keeping.of(config).kept(content, columns)
    confidence = expected_f1(content, block_weights(columns), kept)
    if HEADLINE in without and columns.title_share[columns.headline] > TITLE_SHARE:
        kept[columns.headline] = False
    if BYLINE in without:
        kept &= ~find_bylines(columns, kept, kept)
    if COMMENTS in without:
        kept &= ~find_comments(columns, kept, kept)
    text = "\n".join(block.text for block, keep in zip(page.document.blocks, kept, strict=True) if keep)
    return score(text, page, confidence)


def score_config(
    parts: Sequence[Part], always: Sequence[LabelledPage], config: Config, name: str, store: Store
) -> None:
    """Score a config on every part, with trees that were trained on the other families and on the pages of `always`."""
    families = sorted((part.family, part.name, len(part.pages)) for part in parts)
    training = [*families, *sorted(Counter(set_name(page.data) for page in always).items())]
    settings = f"{config.text()}{load_tree_template(config).lines}{training}"
    key = f"{name}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}"
    missing = [part for part in parts if not store.load(part, name, key)]
    pages = [*always, *(page for part in parts for page in part.pages)]
    columns = {id(page): Columns(page.document, config) for page in pages if missing}
    for family in dict.fromkeys(part.family for part in missing):
        left_out = [part for part in parts if part.family == family]
        print(f"{name}: without {', '.join(part.name for part in left_out)}", file=sys.stderr, flush=True)
        others = [page for part in parts if part.family != family for page in part.pages]
        evidence = train([*others, *always], columns, config)
        for part in left_out:
            without = WITHOUT.get(part.name) or WITHOUT.get(part.name.partition(":")[0], ())
            rows = [clean(page, columns[id(page)], evidence, config, without) for page in part.measured]
            store.save(part, name, key, rows)


def score_peer(parts: Sequence[Part], sources: Sequence[str], name: str, store: Store) -> None:
    """Score another cleaner on every part."""
    program, _, settings = name.partition("(")
    extract = load_peer(program, [settings.rstrip(")")] if settings else [])
    key = f"{name}-{versions()[program]}"
    for part in parts:
        if store.load(part, name, key):
            continue
        print(f"{name}: {part.name}", file=sys.stderr, flush=True)
        wanted = {page.name: page for page in part.measured}
        kind, directory = parse_data(next(spec for spec in sources if set_name(spec) == part.name.partition("/")[0]))
        rows = {}
        for page in read_dataset(kind, directory, lambda _: None):
            if page.name in wanted:
                rows[page.name] = score(_try(extract, page.html), wanted[page.name])
        store.save(part, name, key, [rows[page.name] for page in part.measured])


def _try(extract: Callable[[bytes], str], html: bytes) -> str:
    """Return the text of a page, or nothing if the other cleaner fails."""
    try:
        return extract(html)
    except Exception:  # other programs may raise anything
        return ""


@dataclass(frozen=True)
class Store:
    """Scores on disk, one file per part and method. Nothing is stored without a directory."""

    directory: Path | None

    def load(self, part: Part, method: str, key: str) -> bool:
        """Read the scores of a method into the part, if they are stored."""
        path = self._path(part, key)
        if path is None or not path.is_file():
            return False
        rows = json.loads(path.read_text(encoding="utf-8"))
        if not rows.keys() >= {page.name for page in part.measured}:
            return False
        part.scores[method] = [tuple(rows[page.name]) for page in part.measured]
        return True

    def save(self, part: Part, method: str, key: str, rows: list[Row]) -> None:
        part.scores[method] = rows
        path = self._path(part, key)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            names = [page.name for page in part.measured]
            path.write_text(json.dumps(dict(zip(names, rows, strict=True))), encoding="utf-8")

    def _path(self, part: Part, key: str) -> Path | None:
        name = "".join(char if char.isalnum() or char in "-." else "_" for char in f"{part.name}-{key}.json")
        return None if self.directory is None else self.directory / name


def show(part: Part, method: str, first: str, is_config: bool) -> str:
    """Return the table cell of a method: its score, and for configs the difference to the first config."""
    scores = np.array(part.scores[method])
    if part.is_partial:
        return f"{scores[:, 0].mean():.3f} kept, {scores[:, 1].mean():.3f} removed"
    text = f"{scores[:, 0].mean():.4f}"
    if is_config and method != first:
        difference = scores[:, 0] - np.array(part.scores[first])[:, 0]
        text += f" ({difference.mean():+.4f} ± {difference.std() / np.sqrt(len(difference)):.4f})"
    return text


def show_mean(parts: Sequence[Part], method: str, first: str, is_config: bool) -> str:
    """Return the mean over sets, and for configs the difference to the first config."""
    text = f"{np.mean([np.mean(part.scores[method], axis=0)[0] for part in parts]):.4f}"
    if is_config and method != first:
        differences = [np.subtract(part.scores[method], part.scores[first])[:, 0] for part in parts]
        error = np.sqrt(sum(values.var() / len(values) for values in differences)) / len(parts)
        text += f" ({np.mean([values.mean() for values in differences]):+.4f} ± {error:.4f})"
    return text


def main() -> None:
    """Print one line per set and one column per config and other cleaner."""
    parser = make_parser(__doc__)
    parser.add_argument("--always", nargs="*", default=[], metavar="KIND:DIR", help="sets that are never left out")
    parser.add_argument("--configs", nargs="*", default=["default"], metavar="CONFIG")
    parser.add_argument("--peers", action="store_true", help="also score the other cleaners that are installed")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="store scores here, and reuse them")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write confidence and word F1 of each page")
    arguments = parser.parse_args()
    config = load_config("default")
    parts = read_parts(arguments.data, config, arguments.step)
    always = load_gold(arguments.always, config, partial(print, file=sys.stderr))
    always = [page for page in always if page.document.blocks]
    if len({part.family for part in parts}) < 2 and not always:
        raise DataError("--data needs at least two data sets, because one is left out, or --always another set")
    store = Store(arguments.cache)
    for name in arguments.configs:
        score_config(parts, always, load_config(name), name, store)
    peers = [name for name in PEERS if name in installed_peers()] if arguments.peers else []
    peers += ["trafilatura(comments=no)"] if "trafilatura" in peers else []
    for name in peers:
        score_peer(parts, [spec for family in arguments.data for spec in family.split(",")], name, store)
    methods = [*arguments.configs, *peers]
    rows = []
    for part in parts:
        cells = [show(part, name, methods[0], name in arguments.configs) for name in methods]
        rows.append([part.name, len(part.measured), *cells])
    complete = [part for part in parts if not part.is_partial]
    means = [show_mean(complete, name, methods[0], name in arguments.configs) for name in methods]
    rows.append(["mean", sum(len(part.measured) for part in complete), *means])
    print(table(["left out", "pages", *methods], rows))
    if arguments.save:
        judged = [
            {"name": f"{part.name}/{page.name}", "confidence": confidence, "word_f1": f1}
            for part in complete
            for page, (f1, _, confidence) in zip(part.measured, part.scores[methods[0]], strict=True)
        ]
        arguments.save.write_text(json.dumps(judged), encoding="utf-8")


if __name__ == "__main__":
    run(main)
