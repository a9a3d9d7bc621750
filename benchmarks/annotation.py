"""Measure the annotation tool: keys per page, redraw times, and lost work after a kill.

python -m benchmarks.annotation                    everything; 200 kills take some minutes
python -m benchmarks.annotation --only keystrokes  one of keystrokes, redraw, opening, kills

Keystrokes are counted on the shipped pages, whose correct labels are known. The person starts from the model's labels,
looks at the whole page screen by screen, goes to each wrong label by the shortest way, corrects it alone or together
with similar blocks, and confirms the rest. The comparison is one key per block, without a model. All keys are typed
into the program itself, at a stated size of its terminal. Only the terminal is left out.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.lib.command import make_parser
from benchmarks.lib.pages import ROOT
from tests.support.terminal import Terminal
from victorpy.annotation.journal import Journal
from victorpy.annotation.learning import Predictor
from victorpy.annotation.opening import without_collector
from victorpy.annotation.session import Prediction, Scope, Session
from victorpy.annotation.store import OpenPage
from victorpy.annotation.tui.app import App
from victorpy.annotation.tui.keys import Keys
from victorpy.annotation.tui.page_view import PageView
from victorpy.annotation.tui.screen import canvas_of
from victorpy.cleaner import read_document
from victorpy.config import Config, Cuts, load_config
from victorpy.document import Label
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import load_anno, load_annotation

WIDTH, HEIGHT = 140, 45
"""Size of the terminal in which keys are counted and redrawing is timed. Nobody acts on blocks not yet seen."""
MENDING = 2  # correct labels that one wrong label cancels out, because it has to be corrected later
LARGE = 150  # number of blocks from which on a page counts as large


# Keystrokes


class Count(NamedTuple):
    """Numbers of keys that a page takes."""

    page: str
    blocks: int
    wrong: int
    keys: int  # with the keyboard alone
    scrolls: int  # keys that only show the next screen
    keys_and_clicks: int
    """With a mouse. The wheel scrolls, and a click leads to any block on the screen."""
    from_nothing: int  # keys without a model, with the same selections


class Person:
    """Corrects a page as a sensible person does: screen by screen, from the top, looking at every block."""

    def __init__(self, app: App, gold: Sequence[Label]) -> None:
        assert isinstance(app.view, PageView)
        self.session = app.view.session
        self.gold = gold
        self.keys = self.scrolls = self.keys_and_clicks = 0
        self._app = app
        self._pane = app.view.blocks  # shows which blocks are on the screen, and which keys lead to them

    def work(self) -> None:
        """Do the whole page."""
        session = self.session
        self._look()
        while self._wrong(range(len(session))):
            wrong = self._wrong(self._pane.shown)
            if wrong:
                self._go(wrong[0])
                self._correct()
            elif self._pane.shown.stop < len(session):
                self._scroll("page down")
            else:  # a label was right until similar blocks were labelled
                self._scroll("page up")
        while self._pane.shown.stop < len(session):
            self._scroll("page down")
        if not session.is_finished:
            self._type("a")
        assert session.labels() == list(self.gold)
        assert session.is_finished

    def _look(self) -> None:
        self._app.draw(WIDTH, HEIGHT)

    def _type(self, *keys: str) -> None:
        for key in keys:
            self._app.key(key)
            self._look()
        self.keys += len(keys)
        self.keys_and_clicks += len(keys)

    def _scroll(self, key: str) -> None:
        self._type(key)
        self.scrolls += 1
        self.keys_and_clicks -= 1

    def _wrong(self, numbers: Sequence[int]) -> list[int]:
        return [number for number in numbers if self.session.label(number) is not self.gold[number]]

    def _go(self, target: int) -> None:
        """Move to a block on the screen by the fewest keys, or by a click."""
        if target != self.session.cursor:
            way = self._way(target)
            self._type(*way)
            self.keys_and_clicks -= len(way) - 1
        assert self.session.cursor == target

    def _way(self, target: int) -> list[str]:
        session, start = self.session, self.session.cursor
        one_key: dict[int | None, str] = {
            session.find(session.is_uncertain, -1): "W",
            session.find(session.is_uncertain): "w",
            session.find(session.has_other_label, -1): "{",
            session.find(session.has_other_label): "}",
            start - 1: "up",
            start + 1: "down",
        }
        key = self._pane.marks.get(target) or one_key.get(target)
        letter = self._pane.letters.get(target, "")
        return [key] if key else ["'", letter] if letter else ["g", *str(target + 1), "enter"]

    def _correct(self) -> None:
        """Label the cursor's block, together with the selection that corrects most labels per key."""
        here = self.session.cursor
        label = self.gold[here][0]
        ways: list[tuple[Scope, int, list[str]]] = [
            (Scope.ONE, 1, [label]),
            (Scope.PATH, 1, [label.upper()]),
            (Scope.PLACE, 1, [f"meta {label}"]),
            (Scope.TEXT, 1, ["t", label]),
            *((Scope.CONTAINER, size, [*["r"] * size, label]) for size in (1, 2, 3)),
        ]
        last = self._last_of_run()
        if last > here:
            by_step = ["shift down"] * (last - here)
            by_jump = ["v", *self._way(last)]
            ways.append((Scope.RANGE, last + 1 - here, [*min(by_step, by_jump, key=len), label]))

        def value(way: tuple[Scope, int, list[str]]) -> tuple[float, int]:
            scope, size, keys = way
            return self._gain(scope, size) / len(keys), -len(keys)

        _, _, best_keys = max(ways, key=value)
        self._type(*best_keys)

    def _last_of_run(self) -> int:
        """Return the last wrong label on the screen in the run of blocks from here that need the same label."""
        wanted = self.gold[self.session.cursor]
        last = self.session.cursor
        for number in range(last, self._pane.shown.stop):
            if self.gold[number] is not wanted:
                break
            last = number if self.session.label(number) is not wanted else last
        return last

    def _gain(self, scope: Scope, size: int) -> int:
        """Return how many labels a selection would correct, less the cost of those that it would get wrong.

        The rest of an element is only selected if its end is visible.
        """
        session, gold = self.session, self.gold
        wanted = gold[session.cursor]
        numbers = session.select(scope, size).numbers
        session.unselect()
        if scope is Scope.CONTAINER and numbers[-1] >= self._pane.shown.stop:
            return 0
        right = sum(gold[number] is wanted is not session.label(number) for number in numbers)
        return right - MENDING * sum(gold[number] is not wanted for number in numbers)


def count_keys(path: Path, predictor: Predictor) -> Count:
    """Count the keys that an annotated page takes."""
    config = predictor.cleaner.config
    gold = load_anno(path, config.cuts)
    prediction = predictor(gold.document)
    wrong = sum(ours is not theirs for ours, theirs in zip(prediction.labels, gold.labels, strict=True))
    person = _work(gold, prediction, config)
    typed = person.keys, person.scrolls, person.keys_and_clicks
    return Count(path.stem, len(gold.labels), wrong, *typed, _work(gold, None, config).keys)


def measure_keystrokes() -> None:
    """Count the keys that all shipped pages take."""
    predictor = Predictor.load("default")
    counts = [count_keys(path, predictor) for path in sorted((ROOT / "data").glob("*/*.anno"))]
    large = [count for count in counts if count.blocks >= LARGE]
    print(
        f"A terminal of {WIDTH}×{HEIGHT}. Shares are keys per block. "
        "With a mouse, the wheel scrolls and a click counts as a key.\n"
    )
    keys = "keys | share | of which scroll | keys and clicks | share | keys without a model, same selections | share"
    print(f"| page | blocks | wrong labels | {keys} |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for count in counts:
        print(f"| {count.page} {_total([count])}")
    print(f"| **all {len(counts)} pages** {_total(counts)}")
    print(f"| **{len(large)} pages of {LARGE} blocks and more** {_total(large)}")
    for pages in (large, counts):
        _print_median("keyboard alone", pages, [count.keys for count in pages])
        _print_median("with a mouse", pages, [count.keys_and_clicks for count in pages])


def _work(gold: CleanPage, prediction: Prediction | None, config: Config) -> Person:
    """Let a person label a page in the program itself."""
    session = Session(gold.document, prediction, block_level=config.cuts.block_level)
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal.begin(Path(folder) / "journal", session)
        app = App(Keys(), config, None, read_only=False, retrain=False)
        app.show_page(OpenPage(Path(folder) / "page.anno", session, journal))
        person = Person(app, gold.labels)
        person.work()
        app.close()
    return person


def _print_median(name: str, pages: Sequence[Count], keys: Sequence[int]) -> None:
    shares = [key_count / page.blocks for key_count, page in zip(keys, pages, strict=True)]
    under = sum(share < 0.1 for share in shares)
    median = statistics.median(shares)
    print(f"\n{name}: {under} of {len(pages)} pages take under a tenth; the median is {median:.1%}")


def _total(counts: Sequence[Count]) -> str:
    columns = zip(*(count[1:] for count in counts), strict=True)  # without the name of the page
    blocks, wrong, keys, scrolls, clicks, from_nothing = (sum(column) for column in columns)
    shares = [f"{number} | {number / blocks:.1%}" for number in (keys, clicks, from_nothing)]
    return f"| {blocks} | {wrong} | {shares[0]} | {scrolls} | {shares[1]} | {shares[2]} |"


# Drawing


def page_of(count: int) -> str:
    """Return a page with a number of blocks."""
    item = (
        '<div class="item"><h3>Heading {0}</h3><p>Some words of <a href="/{0}">text</a> that go on, page {0}.</p></div>'
    )
    return "<html><body>" + "".join(item.format(number) for number in range(count // 2)) + "</body></html>"


SCRIPT = [
    key.replace("_", " ")
    for key in [
        *["down"] * 20,
        *"p o f down f meta_p u b b _ page_down page_down w v down down h u U tab".split(),
        *"down p tab down h end up o home s esc r r esc tab tab n a u".split(),
    ]
]
"""Keys that are typed while redrawing is timed."""


def measure_redraw() -> None:
    """Measure the CPU time from a key to the drawn screen, without writing to the terminal."""
    print("| blocks | median | 95 % | longest | key of the longest |\n|--:|--:|--:|--:|---|")
    predictor = Predictor.load("default")
    config = predictor.cleaner.config
    for count in (5_000, 50_000):
        with without_collector():  # as the program does
            document = read_document(page_of(count), config)
        blocks = len(document.blocks)
        prediction = Prediction.of((Label.HEADER, Label.PARAGRAPH) * (blocks // 2), (0.9, 0.7) * (blocks // 2))
        session = Session(document, prediction, block_level=config.cuts.block_level)
        session.pattern = "page 77"
        with tempfile.TemporaryDirectory() as folder:
            journal = Journal.begin(Path(folder) / "journal", session)
            app = App(Keys(), config, predictor, read_only=False, retrain=False)
            app.show_page(OpenPage(Path(folder) / "page.anno", session, journal))
            times = []
            canvas_of(app.draw(WIDTH, HEIGHT)[0], WIDTH)
            for key in SCRIPT * 3:
                began = time.thread_time()
                app.key(key)
                canvas_of(app.draw(WIDTH, HEIGHT)[0], WIDTH)
                times.append(((time.thread_time() - began) * 1000, key))
            app.close()
        spent = sorted(milliseconds for milliseconds, _ in times)
        longest = max(times)
        row = f"{statistics.median(spent):.1f} ms | {spent[len(spent) * 95 // 100]:.1f} ms | {longest[0]:.1f} ms"
        print(f"| {blocks:,} | {row} | {longest[1]!r} |", flush=True)
    for count in (5_000, 50_000):
        _measure_through_terminal(count)


def _measure_through_terminal(count: int) -> None:
    """Measure wall time, while the program writes the annotation file after every change."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(page_of(count))
        with _start("--no-model", str(page), columns=WIDTH, lines=HEIGHT) as terminal:
            terminal.wait_for(f"block 1 of {count:,}", 120)
            terminal.settle(1)
            times = []
            for key in ["down", "p", "o", "page down", "h", "up", "l", "u"] * 10:
                began = time.perf_counter()
                terminal.type(key)
                while not terminal.read(1):
                    pass
                times.append((time.perf_counter() - began) * 1000)
                terminal.settle(0.03)
    times.sort()
    print(
        f"\nIn a terminal, {count:,} blocks, from key to the first of the new screen, by the clock: median "
        f"{statistics.median(times):.1f} ms, 95 % under {times[len(times) * 95 // 100]:.1f} ms, "
        f"longest {times[-1]:.1f} ms (load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
    )


def _start(*arguments: str, columns: int = 100, lines: int = 30) -> Terminal:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    return Terminal([sys.executable, str(ROOT / "annotate.py"), *arguments], columns, lines, environment)


# Opening


def measure_opening() -> None:
    """Measure the CPU time of the whole program when a page of 2 MB is opened and closed."""
    item = '<div class="item"><h3>Heading {0}</h3><p>{1}<a href="/{0}">text</a> that go on, page {0}.</p></div>\n'
    words = "Some words that come before the link and fill the page as an article does, line by line and more. "
    print("| page | blocks | opening | and labelling a block | opening again | without a model |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, filler in (("2 MB of long paragraphs", words * 8), ("2 MB of short ones", "")):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            size = len(item.format(1000, filler))
            page.write_text(
                "<html><body>" + "".join(item.format(number, filler) for number in range(2_000_000 // size))
            )
            first, blocks = _cpu_of_opening(page)
            labelled, _ = _cpu_of_opening(page, label=True)
            again, _ = _cpu_of_opening(page)
            for path in page.parent.glob("page.anno*"):
                path.unlink()
            without, _ = _cpu_of_opening(page, "--no-model")
        print(f"| {name} | {blocks} | {first:.2f} s | {labelled:.2f} s | {again:.2f} s | {without:.2f} s |", flush=True)


def _cpu_of_opening(page: Path, *options: str, label: bool = False) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with _start(*options, str(page)) as terminal:
        terminal.wait_for(" decided", 300)
        blocks = terminal.lines[0].split(" of ")[1].split()[0]
        terminal.type(*(["o"] if label else []), "q")
        terminal.end(seconds=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, blocks


# Kills


def measure_kills(count: int) -> None:
    """Kill the program at random moments while keys are typed, and check what was saved."""
    chance = random.Random(1)
    cuts = load_config("blocks").cuts
    torn = lost = most_lost = 0
    done = 0
    while done < count:
        with tempfile.TemporaryDirectory() as folder:
            page, anno = Path(folder) / "page.html", Path(folder) / "page.anno"
            page.write_text("".join(f"<p>Block {number} of a page</p>" for number in range(2_000)))
            kept = ""
            for _ in range(min(20, count - done)):
                typed = kept + _type_and_kill(page, len(kept), chance)
                done += 1
                torn += anno.exists() and not _is_whole(anno, cuts, typed)
                kept = _reopened(page, cuts)
                missing = len(typed) - len(kept)
                assert typed.startswith(kept), "labels that nobody typed"
                lost += missing > 1
                most_lost = max(most_lost, missing)
        print(
            f"{done} kills: {torn} damaged files, {lost} times more than one key lost, at most {most_lost}", flush=True
        )


def _type_and_kill(page: Path, decided: int, chance: random.Random) -> str:
    """Type until a random moment, then kill. Return the keys whose effect was seen, and the next one."""
    with _start("--no-model", str(page)) as terminal:
        terminal.wait_for(f"{decided:,} decided", 60)
        typed = ""
        stop = time.monotonic() + chance.random() * 1.5
        while time.monotonic() < stop and decided + len(typed) < 1_990:
            key = chance.choice("hplco")
            terminal.type(key)
            typed += key
            if chance.random() < 0.8:
                terminal.wait_for(f"{decided + len(typed):,} decided", 60)
            else:
                break  # killed with the key on its way
        terminal.end(signal.SIGKILL)
    return typed


def _is_whole(anno: Path, cuts: Cuts, typed: str) -> bool:
    try:
        return typed.startswith(_letters(anno, cuts))
    except Exception as error:
        print(f"torn: {error}")
        return False


def _letters(anno: Path, cuts: Cuts) -> str:
    labels = load_annotation(anno, cuts).labels
    return "".join(label[0] if label else "?" for label in labels).rstrip("?")


def _reopened(page: Path, cuts: Cuts) -> str:
    """Open the page again and leave. Return the labels in the file, which are those that were kept."""
    with _start("--no-model", str(page)) as terminal:
        terminal.wait_for(" decided", 60)
        terminal.type("q")
        assert terminal.end(seconds=60) == 0
    anno = page.with_suffix(".anno")
    return _letters(anno, cuts) if anno.exists() else ""


def main() -> None:
    """Run the chosen measurements."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--only", choices=["keystrokes", "redraw", "opening", "kills"])
    parser.add_argument("--kills", type=int, default=200, metavar="N")
    arguments = parser.parse_args()
    measures: dict[str, Callable[[], None]] = {
        "keystrokes": measure_keystrokes,
        "redraw": measure_redraw,
        "opening": measure_opening,
        "kills": lambda: measure_kills(arguments.kills),
    }
    for name, measure in measures.items():
        if arguments.only in {None, name}:
            print(f"\n## {name}\n")
            measure()


if __name__ == "__main__":
    main()
