"""Measure the CPU time of every stage of cleaning a page, and of the most expensive features.

    python -m benchmarks.stages                             the sample pages in data/
    python -m benchmarks.stages --data wcxb:DIR --step 10
    python -m benchmarks.stages --format markdown           the cost of another format: the stage "output"

Pages are cleaned with `Cleaner.document`, with a clock around the functions of each stage. A stage's time does not
include that of stages inside it. trafilatura cleans each page after victorpy, so the code and data of both are hardly
ever in the processor's caches. A second ratio is measured without clocks, and with a loop over all pages for each of
them, as in a program that uses only one of them.

Features are timed in another run, in which more clocks make everything slower. Arrays that several features share,
such as `page.words`, are listed separately.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from benchmarks.lib.tables import table
from victorpy import Cleaner, cleaner
from victorpy.cleaner import needs_metadata
from victorpy.columns import Columns
from victorpy.features import Feature
from victorpy.model import labeller
from victorpy.model.crf.tables import Tables
from victorpy.model.decoder import Decoder
from victorpy.model.evidence import Evidence, Keeping, stage
from victorpy.model.evidence.inputs import Inputs
from victorpy.model.evidence.lexicon import Lexicon
from victorpy.model.evidence.net import Net
from victorpy.model.evidence.trees import Forest
from victorpy.model.labeller import ModelLabeller
from victorpy.model.parts import DEFAULT_PARTS
from victorpy.outputs.base import find_output
from victorpy.page import parse
from victorpy.peers import installed_peers, load_peer
from victorpy.research.datasets import set_name

WARM_UP = 5
TOP = 10
REST = "the rest"
BASE = "trafilatura"
SHARED = "page."

Name = Callable[..., str]  # returns the name of a stage from the arguments of a call


class Clock:
    """Adds up the CPU time of named stages; nested stages are not counted twice."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the block."""
        self._turn()
        self._running.append(name)
        try:
            yield
        finally:
            self._turn()
            self._running.pop()

    def _turn(self) -> None:
        """Add the time since the last turn to the innermost stage."""
        now = time.process_time()
        if self._running:
            name = self._running[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def around(self, function: Callable[..., Any], name: Name) -> Callable[..., Any]:
        """Return the function with a clock around it."""

        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.stage(name(*arguments, **named)):
                return function(*arguments, **named)

        return timed


def stage_clocks(clock: Clock, evidence: Evidence | None) -> ExitStack:
    """Put a clock around each stage; leaving the stack removes the clocks."""
    layers = enumerate(evidence.layers if evidence else (), 1)
    layer = {id(forest): f"trees, layer {number}" for number, forests in layers for forest in forests}
    stages: list[tuple[Any, str, str | Name]] = [
        (cleaner, "decode", "decode"),
        (cleaner, "_read", "freeing the tree"),
        (parse, "_survey", "checks before parsing"),
        (parse, "_lxml_tree", "lxml"),
        (cleaner, "parse_whole", "title, formulas, listings, players"),
        (cleaner, "prune", "prune"),
        (cleaner, "split", "split"),
        (Columns, "__init__", "columns"),
        (Inputs, "matrix", "features of the trees"),
        (Lexicon, "columns", "lexicon"),
        (Forest, "log_odds", lambda forest, *_: layer.get(id(forest), "trees for roles")),
        (Net, "log_odds", "net"),
        (stage, "context", "context"),
        (labeller, "encode", "features of the CRF"),
        (Tables, "states", "states of the CRF"),
        (Keeping, "kept", "cut"),
        (Decoder, "choose", "decoding"),
        (cleaner, "drop_by_default", "parts of the page"),
        (cleaner, "choose_parts", "parts of the page"),
        (ModelLabeller, "_label", "probabilities and labels as objects"),
    ]
    stack = ExitStack()
    for owner, attribute, name in stages:
        name_call = name if callable(name) else lambda *_, name=name, **__: name
        stack.enter_context(patch.object(owner, attribute, clock.around(getattr(owner, attribute), name_call)))
    return stack


def feature_clocks(clock: Clock) -> ExitStack:
    """Put a clock around each feature, and around each array of a page that features share."""
    stack = ExitStack()
    timed = clock.around(Feature.column, lambda feature, page, name: name)
    stack.enter_context(patch.object(Feature, "column", timed))
    shared = {name: value for kind in Columns.__mro__ for name, value in vars(kind).items()}
    for name, value in shared.items():
        if isinstance(value, cached_property):
            timed = clock.around(value.func, lambda page, name=name: f"{SHARED}{name}")
            stack.enter_context(patch.object(value, "func", timed))
    return stack


def clean(cleaner: Cleaner, page: bytes, clock: Clock, format: str) -> int:
    """Clean a page, write it, and return the number of its blocks."""
    output = find_output(format)
    with clock.stage(REST):
        found = cleaner.document(page, metadata=needs_metadata(output, DEFAULT_PARTS), layout=output.wants_layout)
        with clock.stage("output"):
            output.render(found)
        blocks = len(found.labels)
        with clock.stage("freeing the page"):
            del found
    return blocks


def time_stages(cleaner: Cleaner, pages: list[bytes], format: str) -> tuple[dict[str, float], int]:
    """Return the seconds of each stage, and of trafilatura in turn with them, and the number of blocks."""
    peer = load_peer(BASE) if BASE in installed_peers() else None
    blocks = 0
    for measured in (pages[:WARM_UP], pages):
        clock = Clock()
        trained = getattr(cleaner.labeller, "stages_", None)
        with stage_clocks(clock, trained and trained.evidence):
            blocks = 0
            for page in measured:
                blocks += clean(cleaner, page, clock, format)
                if peer:
                    with clock.stage(BASE):
                        peer(page)
    return clock.seconds, blocks


def time_loops(cleaner: Cleaner, pages: list[bytes], format: str) -> tuple[float, float]:
    """Return the seconds that victorpy and trafilatura need for all pages, each in a loop of its own."""

    def seconds(clean: Callable[[bytes], object]) -> float:
        started = time.process_time()
        for page in pages:
            clean(page)
        return time.process_time() - started

    return seconds(partial(cleaner.clean, format=format)), seconds(load_peer(BASE))


def time_features(cleaner: Cleaner, pages: list[bytes], format: str) -> dict[str, float]:
    """Return the seconds of each feature and shared array."""
    clock = Clock()
    with feature_clocks(clock):
        for page in pages:
            clean(cleaner, page, clock, format)
    for stage_name in (REST, "output", "freeing the page"):
        del clock.seconds[stage_name]
    return clock.seconds


def describe_stages(seconds: dict[str, float], count: int) -> str:
    """Return a table of the stages in order, their sum, and trafilatura."""
    order = [name for name in seconds if name not in {REST, BASE}] + [REST]
    total = sum(seconds[name] for name in order)
    rows = [row(name, seconds[name], total, count) for name in order]
    rows.append(row("**all**", total, total, count))
    if BASE in seconds:
        rows.append([f"{BASE}, same pages", f"{1000 * seconds[BASE] / count:.2f}", ""])
        rows.append([f"ratio to {BASE}", f"{total / seconds[BASE]:.3f}", ""])
    return table(["stage", "CPU ms per page", "share"], rows)


def describe_features(seconds: dict[str, float], count: int) -> str:
    """Return tables of the most expensive features and shared arrays."""
    shared = {name: spent for name, spent in seconds.items() if name.startswith(SHARED)}
    features = {name: spent for name, spent in seconds.items() if name not in shared}
    return f"{_dearest('feature', features, count)}\n\n{_dearest('shared by features', shared, count)}"


def _dearest(what: str, seconds: dict[str, float], count: int) -> str:
    total = sum(seconds.values())
    dearest = sorted(seconds, key=lambda name: seconds[name], reverse=True)[:TOP]
    rows = [row(f"`{name}`", seconds[name], total, count) for name in dearest]
    rows.append(row(f"**all {len(seconds)}**", total, total, count))
    return table([what, "CPU ms per page", "share"], rows)


def row(name: str, seconds: float, total: float, count: int) -> list[str]:
    """Return a row: name, milliseconds per page, share."""
    return [name, f"{1000 * seconds / count:.2f}", f"{100 * seconds / total:.1f} %"]


def main() -> None:
    """Print both tables."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="default", help="a model by name or path (default: default)")
    parser.add_argument("--format", default="text", help="the format that pages are written in (default: text)")
    arguments = parser.parse_args()
    pages = [gold.html for _, gold in read_pages(arguments.data, arguments.step)]
    cleaner = Cleaner.load(arguments.model)
    seconds, blocks = time_stages(cleaner, pages, arguments.format)
    size = sum(map(len, pages)) / len(pages) / 1000
    print("## Where each millisecond goes\n")
    sets = ", ".join(map(set_name, arguments.data))
    about = f"{size:.0f} kB and {blocks / len(pages):.0f} blocks on average"
    print(f"{len(pages)} pages of {sets}, {about}; model {Path(arguments.model).name}, format {arguments.format}.\n")
    print(describe_stages(seconds, len(pages)))
    if BASE in seconds:
        ours, theirs = time_loops(cleaner, pages, arguments.format)
        each = f"{1000 * ours / len(pages):.2f} and {1000 * theirs / len(pages):.2f} ms per page"
        print(f"\nEach in a loop of its own: {each}, ratio {ours / theirs:.3f}.")
    print("\nThe most expensive features, and the most expensive arrays that features share:\n")
    print(describe_features(time_features(cleaner, pages, arguments.format), len(pages)))


if __name__ == "__main__":
    run(main)
