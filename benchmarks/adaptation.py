"""Adapt the bundled model to 5, 10, 20 and 50 pages, and measure the gain on pages of other sites of the same kind.

    python -m benchmarks.adaptation --data "a forum=pages:DIR/forums" pages:DIR/wwwxmu:hexun.com ... --rows rows.jsonl
    python -m benchmarks.adaptation --rows rows.jsonl --plot docs/images/adaptation.svg

Each data set is a kind of pages; `KIND:DIR:SITE` uses one site of it, and `NAME=KIND:DIR` gives it a name. A third of
the sites is used for testing, or a third of the pages if there is only one site. Pages without an address that share
most of their classes count as one site. From the others, pages are taken in random order, or by uncertainty: the
simulated annotator always labels the five pages that the current model is least sure of, as in `victor annotate --order
uncertainty --retrain`. `victor learn` chooses by itself between the unchanged model, adaptation and training from
scratch. General pages are the sample pages in data/, which no model was trained on.

Results are added to --rows, so the kinds may be measured one by one. Without --data, they are only shown.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.left_out import score
from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import SAMPLE
from benchmarks.lib.pictures import save_picture
from benchmarks.lib.tables import table
from victorpy.annotation.learning import mean_entropy
from victorpy.model.choice import ADAPTED, guess_sites, learn
from victorpy.model.evidence.replay import WEIGHT, Replay, load_replay
from victorpy.model.labeller import ModelLabeller
from victorpy.model.store import DEFAULT, Model, load_model
from victorpy.research.datasets import read_dataset
from victorpy.research.gold import LabelledPage, label_page, load_gold
from victorpy.sites.grouping import SITE_KEY

SIZES = (5, 10, 20, 50)
BATCH = 5  # number of pages that the simulated annotator labels before the model is adapted again
MOST_TESTS, MOST_POOL = 60, 120
COLUMNS = 4  # of plots in the picture
LEAST_SPAN = 0.1  # of the axis of word F1, so that small differences look small


@dataclass
class Kind:
    """Pages of one kind, divided into pages to learn from and pages to test on."""

    name: str
    pool: list[LabelledPage]
    tests: list[LabelledPage]


def read_kind(spec: str, model: Model, seed: int) -> Kind:
    """Read the pages of a kind, and divide them by site, or by page if there is one site."""
    name, _, spec = spec.rpartition("=")
    kind, _, rest = spec.partition(":")
    directory, _, site = rest.partition(":")
    gold = [page for page in read_dataset(kind, Path(directory), print) if site in ("", page.site)]
    pages = [label_page(page, spec, model.config) for page in gold]
    sites = guess_sites([page.document for page in pages], SITE_KEY)
    if len(set(sites)) == 1:
        sites = [page.name for page in pages]
    order, rows = sorted(set(sites)), list(zip(sites, pages, strict=True))
    chance = random.Random(seed)
    chance.shuffle(order)
    chance.shuffle(rows)
    tested = set(order[: len(order) // 3])
    tests = [page for site, page in rows if site in tested][:MOST_TESTS]
    pool = [page for site, page in rows if site not in tested][:MOST_POOL]
    return Kind(name or Path(directory).name + (f", {site}" if site else ""), pool, tests)


def f1(labeller: ModelLabeller, pages: Iterable[LabelledPage]) -> list[float]:
    """Return the word F1 of each page."""
    scores = []
    for page in pages:
        labels = labeller.label(page.document).labels
        kept = (block.text for block, label in zip(page.document.blocks, labels, strict=True) if label.is_content)
        scores.append(score("\n".join(kept), page)[0])
    return scores


def simulate(
    kind: Kind, model: Model, general: Sequence[LabelledPage], order: str, most: int, replay: Replay | None
) -> Iterable[dict[str, Any]]:
    """Label pages in an order, and yield what is measured after each of `SIZES`."""
    before, general_before = f1(model.labeller, kind.tests), f1(model.labeller, general)
    labeller, left = model.labeller, list(kind.pool)
    labelled: list[LabelledPage] = []
    for size in range(BATCH, min(most, len(kind.pool)) + 1, BATCH):
        if order == "uncertainty":
            left.sort(key=lambda page: -mean_entropy(page.document, labeller.label(page.document).content))
        labelled, left = labelled + left[:BATCH], left[BATCH:]
        if size not in SIZES and order == "random":
            continue
        began = time.process_time()
        learned = learn([page.annotated for page in labelled], model, replay=replay)
        seconds = time.process_time() - began
        labeller = learned.trained.labeller
        if size not in SIZES:
            continue
        gains = np.subtract(f1(labeller, kind.tests), before)
        changes = np.subtract(f1(labeller, general), general_before)
        sample_before, sample_after = learned.general or (0.0, 0.0)
        yield {
            "kind": kind.name,
            "order": order,
            "pages": size,
            "before": float(np.mean(before)),
            "gain": float(gains.mean()),
            "error": float(gains.std(ddof=1) / len(gains) ** 0.5),
            "chosen": learned.chosen,
            "said": float(np.mean(learned.scores[learned.chosen]) - np.mean(learned.scores["unchanged"])),
            "adapted": float(np.mean(learned.scores[ADAPTED]) - np.mean(learned.scores["unchanged"])),
            "general": float(changes.mean()),
            "general said": sample_after - sample_before,
            "seconds": seconds,
        }


def show(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of gains, means over draws."""
    lines = []
    keys = dict.fromkeys((row["kind"], row["order"], row["pages"]) for row in rows)
    for kind, order, pages in keys:
        own = [row for row in rows if (row["kind"], row["order"], row["pages"]) == (kind, order, pages)]
        mean = {name: np.mean([row[name] for row in own]) for name in ("before", "gain", "said", "general", "seconds")}
        gains, chosen = "{:+.3f}".format, sorted({row["chosen"] for row in own})
        lowest = min(row["gain"] for row in own)
        cells = [gains(mean["gain"]), gains(lowest), gains(mean["said"]), gains(mean["general"])]
        lines.append([kind, f"{mean['before']:.3f}", order, pages, *cells, ", ".join(chosen), f"{mean['seconds']:.1f}"])
    heads = ["kind", "bundled", "order", "pages", "gain", "lowest", "gain said", "general", "saved", "CPU s"]
    return table(heads, lines)


def draw(rows: Sequence[dict[str, Any]], figure: Any) -> None:
    """Draw word F1 against the number of labelled pages, one plot per kind."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    plots = figure.subplots(-(-len(kinds) // COLUMNS), COLUMNS, squeeze=False).ravel()
    for axes, kind in zip(plots, kinds, strict=False):
        for order, style in (("random", "-"), ("uncertainty", "--")):
            own = [row for row in rows if (row["kind"], row["order"]) == (kind, order)]
            sizes = [0, *sorted({row["pages"] for row in own})]
            before = np.mean([row["before"] for row in own]) if own else 0
            means = [np.mean([row["gain"] for row in own if row["pages"] == size] or [0]) for size in sizes]
            if own:
                axes.plot(sizes, before + np.array(means), style, marker="o", markersize=3, label=order)
        low, high = axes.get_ylim()
        span = max(high - low, LEAST_SPAN)
        top = min((low + high + span) / 2, 1.005)
        axes.set_ylim(top - span, top)
        axes.set_xticks([0, *SIZES])
        axes.set_title(kind)
    for axes in plots[len(kinds) :]:
        axes.set_visible(False)
    figure.supxlabel("labelled pages", fontsize=9)
    figure.supylabel("word F1 on other pages", fontsize=9)
    plots[0].legend(frameon=False, loc="lower right")


def main() -> None:
    """Measure, and show all rows."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--data", nargs="*", default=[], metavar="KIND:DIR[:SITE]")
    parser.add_argument("--rows", type=Path, required=True, metavar="FILE.jsonl", help="results")
    parser.add_argument("--draws", type=int, default=2, metavar="N", help="random draws (default: 2)")
    parser.add_argument("--most", type=int, default=max(SIZES), metavar="N", help="maximum number of labelled pages")
    parser.add_argument("--replay", type=float, default=WEIGHT, metavar="W", help="weight of the replay sample")
    parser.add_argument("--model", default=DEFAULT, metavar="MODEL", help="model to adapt")
    parser.add_argument("--sample", type=Path, metavar="FILE.npz", help="replay sample of the model, from tools.replay")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="number of the first draw (default: 0)")
    parser.add_argument("--orders", nargs="*", default=["random", "uncertainty"])
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the learning curves")
    arguments = parser.parse_args()
    model = load_model(arguments.model)
    replay = load_replay(model.meta, arguments.replay, arguments.sample) if arguments.replay else None
    general = load_gold([SAMPLE], model.config, print) if arguments.data else []
    for seed in range(arguments.seed, arguments.seed + arguments.draws):
        for spec in arguments.data:
            kind = read_kind(spec, model, seed)
            for order in arguments.orders:
                for row in simulate(kind, model, general, order, arguments.most, replay):
                    with arguments.rows.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row | {"draw": seed}) + "\n")
    rows = [json.loads(line) for line in arguments.rows.read_text(encoding="utf-8").splitlines()]
    print(show(rows))
    if arguments.plot:
        lines = -(-len({row["kind"] for row in rows}) // COLUMNS)
        save_picture(lambda figure: draw(rows, figure), (2.4 * COLUMNS, 2.2 * lines), arguments.plot)


if __name__ == "__main__":
    run(main)
