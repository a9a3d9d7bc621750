"""Quality and speed beside other cleaners, on the same pages in one process, page by page in turn.

    python -m benchmarks.compare                                      the sample pages in data/
    python -m benchmarks.compare --data cleaneval:DIR wcxb:DIR        gold standards that you have
    python -m benchmarks.compare --model default --model my-model     several models
    python -m benchmarks.compare --data wcxb:DIR -o DIR               write RESULTS.md, f1-speed.png, scores.json
    python -m benchmarks.compare --scores DIR/scores.json             the tables of an earlier run again

Quality is the word F1 of WCXB (overlap of the words of output and gold), the mean over pages with its 95 % interval.
Time is CPU time, as a ratio to trafilatura's where it is installed (pip install -e '.[peers]'). No cleaner
always goes first: their order is rotated from page to page.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tqdm import tqdm

from benchmarks.lib.cleaners import cleaner_name, find_cleaners
from benchmarks.lib.pages import Sampled, add_arguments, read_pages
from benchmarks.lib.results import Cleaned, Page, Results, markdown
from victorpy.base.variables import FAVORS
from victorpy.errors import DataError, VictorError
from victorpy.peers import Extractor, versions
from victorpy.research.compare.provenance import set_name, training_sets
from victorpy.research.datasets import GoldPage
from victorpy.research.scores import word_f1
from victorpy.research.site_runs import timed

PICTURE = "f1-speed.png"


def clean_all(pages: Iterable[Sampled], cleaners: dict[str, Extractor]) -> list[Page]:
    """Let every cleaner clean every page; the first page also warms them up, unmeasured."""
    found = []
    for number, (data, gold) in enumerate(pages):
        if not number:
            for extract in cleaners.values():
                clean_page(extract, gold)
        cleaned = {name: clean_page(cleaners[name], gold) for name in rotated(list(cleaners), number)}
        found.append(Page(data, gold.name, gold.page_type, {name: cleaned[name] for name in cleaners}))
    return found


def rotated(names: Sequence[str], number: int) -> list[str]:
    """Another one first at every page."""
    first = number % len(names)
    return [*names[first:], *names[:first]]


def clean_page(extract: Extractor, gold: GoldPage) -> Cleaned:
    """Clean a page, with a look at the clock, and score what comes out; a cleaner that fails gives nothing."""
    output, seconds = timed(lambda: extract(gold.html))
    text, error = (output, "") if isinstance(output, str) else ("", f"{type(output).__name__}: {output}")
    score = word_f1(text, gold.text)
    return Cleaned(**score.shares(), seconds=seconds, empty=not score.output and score.gold > 0, error=error)


def run(arguments: argparse.Namespace) -> Results:
    """Run the comparison that the arguments ask for."""
    models = arguments.model or ["default"]
    sets = [set_name(spec) for spec in arguments.data]
    if len(set(sets)) < len(sets):
        raise DataError(f"two data sets have the same name, {', '.join(sets)}: compare them one after the other")
    cleaners = find_cleaners(models, arguments.favor)
    if len(cleaners) == len(models) + 1:
        print("no other cleaner is installed to compare with: pip install -e '.[peers]'", file=sys.stderr)
    trained_on = {cleaner_name(model, arguments.favor): training_sets(model, sets) for model in models}
    pages = tqdm(read_pages(arguments.data, arguments.step), unit=" pages", disable=None)
    return Results(tell_story(arguments), trained_on, clean_all(pages, cleaners))


def tell_story(arguments: argparse.Namespace) -> dict[str, str]:
    """How the results were come by."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": f"`{show_command(arguments)}`",
        "versions": ", ".join(f"{name} {number}" for name, number in versions("lxml", "numpy").items()),
        "machine": f"{cpu_model()}, Python {platform.python_version()}",
    }


def show_command(arguments: argparse.Namespace) -> str:
    """The command as it was given, with no path of this machine in it."""
    words = ["python -m benchmarks.compare --data", *map(set_name, arguments.data)]
    words += [f"--model {Path(model).name}" for model in arguments.model]
    words += [f"--favor {arguments.favor}"] if arguments.favor else []
    words += [f"--step {arguments.step}"] if arguments.step > 1 else []
    words += [f"-o {arguments.output.name}"] if arguments.output else []
    return " ".join(words)


def cpu_model() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def write(results: Results, directory: Path) -> None:
    """Write tables, picture and scores."""
    from benchmarks.lib.pictures import draw_quality_and_speed

    directory.mkdir(parents=True, exist_ok=True)
    results.save(directory / "scores.json")
    draw_quality_and_speed(results, directory / PICTURE)
    (directory / "RESULTS.md").write_text(markdown(results, PICTURE), encoding="utf-8")
    print(f"written: {directory / 'RESULTS.md'}, {PICTURE} and scores.json", file=sys.stderr)


def warn_of_failures(results: Results) -> None:
    """Say which cleaner failed on which page."""
    for page in results.pages:
        for name, cleaned in page.cleaned.items():
            if cleaned.error:
                print(f"{page.data} {page.name}: {name}: {cleaned.error}", file=sys.stderr)


def main() -> None:
    """Compare, then print the tables or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--model", action="append", default=[], help="a model by name or path; may be repeated")
    parser.add_argument("--favor", choices=FAVORS, help="what victorpy is to favor")
    parser.add_argument("--scores", type=Path, metavar="FILE", help="show the scores.json of an earlier run")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="where to write the results")
    arguments = parser.parse_args()
    try:
        results = Results.load(arguments.scores) if arguments.scores else run(arguments)
    except VictorError as error:
        parser.error(str(error))
    warn_of_failures(results)
    if arguments.output:
        write(results, arguments.output)
    else:
        print(markdown(results), end="")


if __name__ == "__main__":
    main()
