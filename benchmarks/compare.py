"""Compare quality and speed with other cleaners, and write the results that README shows.

    python -m benchmarks.compare                                      the sample pages in data/
    python -m benchmarks.compare --data cleaneval:DIR wcxb:DIR        gold standards that you have
    python -m benchmarks.compare --methods default,my-model,peers     other methods, as in `victor compare`
    python -m benchmarks.compare --data wcxb:DIR -o DIR               write RESULTS.md, f1-speed.png, scores.json

The measures are those of `victor compare`. Other cleaners are compared if they are installed:
pip install -e '.[peers]'.
"""

from __future__ import annotations

import argparse
import datetime
import math
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pictures import save_picture
from victorpy.methods import Method, load_methods
from victorpy.peers import installed_peers
from victorpy.research.compare import DataSet, Plan, compare_methods, open_sets, summarise_comparison
from victorpy.research.datasets import GoldPage, set_name
from victorpy.research.report import comparison
from victorpy.research.report.base import to_markdown, to_text, write_json, write_text
from victorpy.research.report.plots import BLUE, GREY, points

PICTURE = "f1-speed.png"
COLUMNS = 2
PANEL = (5.6, 3.5)


FEW_SITES = 60


@dataclass(frozen=True)
class Thinned(DataSet):
    """A data set of which every step-th site is used. A set of fewer than `FEW_SITES` sites is used as a whole."""

    step: int = 1

    def read_sites(self) -> Iterator[tuple[str, list[GoldPage]]]:
        sites = super().read_sites()
        first = list(islice(sites, FEW_SITES))
        return islice(chain(first, sites), 0, None, self.step if len(first) == FEW_SITES else 1)


def find_methods(names: str) -> list[Method]:
    """Load the methods that the names list; by default the bundled model, other cleaners, and keeping everything."""
    peers = installed_peers()
    if not peers:
        print("no other cleaner is installed to compare with: pip install -e '.[peers]'", file=sys.stderr)
    no_comments = ["trafilatura(comments=no)"] if "trafilatura" in peers else []
    return load_methods(names or ",".join(["default", *peers, *no_comments, "everything"]))


def compare(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the comparison, and return every number by name."""
    plan, methods = Plan(), find_methods(arguments.methods)
    sets = [Thinned(**asdict(data), step=arguments.step) for data in open_sets(arguments.data, lambda _: None)]
    with tqdm(unit=" pages", disable=None) as bar:
        sites = compare_methods(sets, methods, plan, lambda _: bar.update())
    scores = summarise_comparison(sets, methods, plan, sites)
    for failure in scores["failures"]:
        print(f"{failure['data']} {failure['page']}: {failure['method']}: {failure['error']}", file=sys.stderr)
    return scores


def describe_run(arguments: argparse.Namespace) -> str:
    """Return how the results were made, without a path of this machine."""
    command = ["python -m benchmarks.compare --data", *map(set_name, arguments.data)]
    command += [f"--methods {arguments.methods}"] if arguments.methods else []
    command += [f"--step {arguments.step}"] if arguments.step > 1 else []
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    machine = f"{platform.processor() or platform.machine()}, Python {platform.python_version()}"
    return f"- date: {today}\n- command: `{' '.join(command)}`\n- machine: {machine}\n"


def draw_panels(figure: Any, scores: dict[str, Any]) -> None:
    """Draw word F1 with its interval against CPU time, in one panel per data set."""
    sets = scores["sets"]
    columns = min(len(sets), COLUMNS)
    panels = list(figure.subplots(math.ceil(len(sets) / columns), columns, squeeze=False).flat)
    for axes in panels[len(sets) :]:
        axes.set_axis_off()
    for axes, data in zip(panels, sets, strict=False):
        rows = [row for row in scores["results"] if row["data"] == data["data"]]
        draw_set(axes, rows)
        axes.set_title(f"{data['source']}, {data['pages']} pages")


def draw_set(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Draw one data set; victorpy's own methods are blue, other programs and the baseline grey."""
    named = [(f"{row['method']}{' †' if row['trained_on'] else ''}", row["cpu_ms"], row["words_f1"]) for row in rows]
    points(named, "", "CPU ms per page (further left is faster)", "word F1", logarithmic=True).draw(axes)
    for row in rows:
        own = row["trained_on"] is not False or row["method"] == rows[0]["method"]
        axes.plot([row["cpu_ms"]] * 2, row["words_f1_interval"], color=BLUE if own else GREY, linewidth=1.4)


def main() -> None:
    """Compare, then print the table or write the results."""
    parser = make_parser(__doc__)
    parser.add_argument("--methods", default="", metavar="A,B", help="as in `victor compare`")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="directory of the results")
    arguments = parser.parse_args()
    scores = compare(arguments)
    print(to_text(comparison.summary(scores)), end="")
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        columns, rows = min(len(scores["sets"]), COLUMNS), math.ceil(len(scores["sets"]) / COLUMNS)
        size = (PANEL[0] * columns, PANEL[1] * rows)
        save_picture(lambda figure: draw_panels(figure, scores), size, arguments.output / PICTURE)
        picture = f"![Word F1 against CPU time]({PICTURE})\n"
        title, _, report = to_markdown(comparison.report(scores)).partition("\n")
        write_text(arguments.output / "RESULTS.md", "\n".join([title, "", describe_run(arguments), picture, report]))
        write_json(arguments.output / "scores.json", scores)
        print(f"written: {arguments.output / 'RESULTS.md'}, {PICTURE} and scores.json", file=sys.stderr)


if __name__ == "__main__":
    run(main)
