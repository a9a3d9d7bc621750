"""Measures the annotation tool: keys, milliseconds, and what is lost when it is killed.

python benchmarks/annotation.py                    all of it; 200 kills take some minutes
python benchmarks/annotation.py --only keystrokes  one of keystrokes, redraw, opening, kills

Keystrokes are counted on the shipped pages, whose right labels are known: those of a person who starts from the model's
labels, looks at the whole page screen by screen, goes to what is wrong by the shortest way and corrects it, alone or
with its like, and confirms the rest; against a key a block for a person who starts from nothing.
"""

from __future__ import annotations

import argparse
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

from terminal import Terminal

from victorpy.anno import load_anno, load_annotation
from victorpy.annotate.app import App
from victorpy.annotate.events import Prediction, Scope
from victorpy.annotate.journal import Journal
from victorpy.annotate.keys import Keys
from victorpy.annotate.opening import Opened, without_collector
from victorpy.annotate.predictor import Predictor
from victorpy.annotate.screen import canvas_of
from victorpy.annotate.session import Session
from victorpy.annotate.store import Store
from victorpy.cleaner import read_document
from victorpy.config import Cuts, load_config
from victorpy.document import Label

ROOT = Path(__file__).parents[1]
SCREEN = 35
"""So many blocks a person sees at once; nobody goes further without having looked."""
LARGE = 150
"""Pages with so many blocks stand for "a page of 200 blocks"."""


# Keystrokes


class Count(NamedTuple):
    """What a page takes."""

    page: str
    blocks: int
    wrong: int
    scrolls: int
    """Screens that have to be scrolled to, by a key or by the wheel of the mouse."""
    moves: int
    """Keys that move the cursor."""
    targets: int
    """Blocks that the cursor has to go to: clicks, for who has a mouse."""
    labels: int
    """Keys that select, label and confirm."""

    @property
    def keys(self) -> int:
        """Keys, with the keyboard alone."""
        return self.scrolls + self.moves + self.labels

    @property
    def keys_and_clicks(self) -> int:
        """Keys and clicks, with a mouse."""
        return self.targets + self.labels


class Person:
    """Corrects a page as a sensible person does: screen by screen, from the top, every block seen."""

    def __init__(self, session: Session, gold: Sequence[Label]) -> None:
        self.session = session
        self.gold = gold
        self.top = 0
        self.scrolls = self.moves = self.targets = self.labels = 0

    def work(self) -> None:
        """Do the whole page."""
        session = self.session
        while True:
            wrong = self._wrong(self._screen())
            if wrong:
                self._go(wrong[0])
                self.labels += correct(session, self.gold)
                self._follow()
            elif self.top + SCREEN < len(session):
                self._scroll(1)
            else:
                missed = self._wrong(range(len(session)))  # what was right, until all of its like were labelled
                if not missed:
                    break
                while missed[0] < self.top:
                    self._scroll(-1)
        if not session.is_finished:
            session.confirm_rest()
            self.labels += 1
        assert session.labels() == list(self.gold)

    def _wrong(self, numbers: Sequence[int]) -> list[int]:
        return [number for number in numbers if self.session.label(number) is not self.gold[number]]

    def _screen(self) -> range:
        return range(self.top, min(self.top + SCREEN, len(self.session)))

    def _scroll(self, step: int) -> None:
        """A screen further, of which three lines were seen before; the cursor goes along."""
        self.scrolls += 1
        seen = self._screen()[-1 if step > 0 else 0]
        self.top = max(0, seen - 3 if step > 0 else seen - SCREEN + 4)
        self.session.move(seen)

    def _follow(self) -> None:
        """The screen goes along with a cursor that leaves it."""
        cursor = self.session.cursor
        if cursor not in self._screen():
            self.top = max(0, cursor - SCREEN + 4)

    def _go(self, target: int) -> None:
        """Move by the fewest keys; the block is on the screen."""
        session = self.session
        start = session.cursor
        if target == start:
            return
        self.targets += 1
        first = self._one_key(start)
        if target in first:
            self.moves += 1
        else:
            self.moves += 2  # an apostrophe and a letter lead to any block on the screen
        session.move(target)

    def _one_key(self, start: int) -> set[int | None]:
        """Where one key leads: to a neighbour, to a digit, to what is uncertain, to another label."""
        session = self.session
        session.cursor = start
        digits = session.most_doubtful(self._screen(), 9)
        jumps = (find(step) for step in (1, -1) for find in (self._next_uncertain, session.find_other_label))
        return {start - 1, start + 1, *digits, *jumps}

    def _next_uncertain(self, step: int) -> int | None:
        return self.session.find(self.session.is_uncertain, step)


def correct(session: Session, gold: Sequence[Label]) -> int:
    """Do what gains most for its keys at the cursor's block; the answer is how many keys that took."""
    here = session.cursor
    wanted = gold[here]
    run = here
    while run + 1 < len(session) and gold[run + 1] is wanted:
        run += 1
    while run > here and session.label(run) is wanted:  # a range need not be longer than what is wrong
        run -= 1
    tries: list[tuple[int, Callable[[], object]]] = [(0, session.unselect), (0, lambda: session.select(Scope.PATH))]
    tries.append((1, lambda: session.select(Scope.TEXT)))
    tries += [(size, lambda size=size: session.select(Scope.CONTAINER, size)) for size in (1, 2, 3)]  # type: ignore[misc]
    tries.append((1 + min(run - here, 1 + (run - here) // 5), lambda: session.select(Scope.RANGE, run + 1 - here)))
    best = max(tries, key=lambda one: (gain(session, gold, one[1]) / (one[0] + 1), -one[0]))
    best[1]()
    session.give(wanted)
    return best[0] + 1


def gain(session: Session, gold: Sequence[Label], select: Callable[[], object]) -> int:
    """How many labels more would be right."""
    wanted = gold[session.cursor]
    select()
    numbers = session.selection.numbers
    session.unselect()
    before = sum(session.label(number) is gold[number] for number in numbers)
    return sum(gold[number] is wanted for number in numbers) - before


def measure_keystrokes() -> None:
    """Count on all shipped pages."""
    predictor = Predictor.load("default")
    cleaner = predictor.cleaner
    counts = []
    for path in sorted((ROOT / "data").glob("*/*.anno")):
        gold = load_anno(path, cleaner.config.cuts)
        prediction = predictor(gold.document)
        wrong = sum(ours is not theirs for ours, theirs in zip(prediction.labels, gold.labels, strict=True))
        session = Session(gold.document, prediction, block_level=cleaner.config.cuts.block_level)
        person = Person(session, gold.labels)
        person.work()
        counts.append(
            Count(path.stem, len(session), wrong, person.scrolls, person.moves, person.targets, person.labels)
        )
    print("Share: of a key a block. With a mouse the wheel scrolls, and every click counts as a key.\n")
    print("| page | blocks | wrong labels | keys | share | of which scroll | keys and clicks, with a mouse | share |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for count in counts:
        print(f"| {count.page} {_total([count])}")
    print(f"| **all {len(counts)} pages** {_total(counts)}")
    large = [count for count in counts if count.blocks >= LARGE]
    print(f"| **{len(large)} pages of {LARGE} blocks and more** {_total(large)}")
    for pages in (large, counts):
        for name, keys in (
            ("keyboard alone", [count.keys for count in pages]),
            ("with a mouse", [count.keys_and_clicks for count in pages]),
        ):
            shares = [each / count.blocks for each, count in zip(keys, pages, strict=True)]
            under = sum(share < 0.1 for share in shares)
            median = statistics.median(shares)
            print(f"\n{name}: {under} of {len(pages)} pages take under a tenth; the median is {median:.1%}")


def _total(counts: Sequence[Count]) -> str:
    rows = ((one.blocks, one.wrong, one.keys, one.scrolls, one.keys_and_clicks) for one in counts)
    blocks, wrong, keys, scrolls, clicks = (sum(each) for each in zip(*rows, strict=True))
    return f"| {blocks} | {wrong} | {keys} | {keys / blocks:.1%} | {scrolls} | {clicks} | {clicks / blocks:.1%} |"


# Drawing


def page_of(count: int) -> str:
    """A page of so many blocks."""
    item = (
        '<div class="item"><h3>Heading {0}</h3><p>Some words of <a href="/{0}">text</a> that go on, page {0}.</p></div>'
    )
    return "<html><body>" + "".join(item.format(number) for number in range(count // 2)) + "</body></html>"


SCRIPT = [*["down"] * 20, "p", "o", " ", "page down", "page down", "w", "v", "down", "down", "h", "u", "U", "tab"]
SCRIPT += [
    "down",
    "p",
    "tab",
    "down",
    "h",
    "end",
    "up",
    "o",
    "home",
    "s",
    "esc",
    "r",
    "r",
    "esc",
    "tab",
    "tab",
    "n",
    "a",
    "u",
]


def measure_redraw() -> None:
    """The CPU time from a key to the drawn screen, all of it but the writing to the terminal."""
    print("| blocks | median | 95 of 100 | longest | key of the longest |\n|--:|--:|--:|--:|---|")
    config = load_config("blocks")
    for count in (5_000, 50_000):
        with without_collector():  # as the program does
            document = read_document(page_of(count), config)
        blocks = len(document.blocks)
        prediction = Prediction((Label.HEADER, Label.PARAGRAPH) * (blocks // 2), (0.9, 0.7) * (blocks // 2))
        session = Session(document, prediction, block_level=config.cuts.block_level)
        session.pattern = "page 77"
        with tempfile.TemporaryDirectory() as folder:
            journal = Journal.begin(Path(folder) / "journal", session)
            app = App(Keys(), config)
            app.show_page(Opened("page", session, Store(Path(folder) / "page.anno", session, journal)))
            times = []
            canvas_of(app.draw(140, 45)[0], 140)
            for key in SCRIPT * 3:
                began = time.thread_time()
                app.key(key)
                canvas_of(app.draw(140, 45)[0], 140)
                times.append(((time.thread_time() - began) * 1000, key))
            app.close()
        spent = sorted(milliseconds for milliseconds, _ in times)
        longest = max(times)
        row = f"{statistics.median(spent):.1f} ms | {spent[len(spent) * 95 // 100]:.1f} ms | {longest[0]:.1f} ms"
        print(f"| {blocks:,} | {row} | {longest[1]!r} |", flush=True)
    for count in (5_000, 50_000):
        _measure_through_terminal(count)


def _measure_through_terminal(count: int) -> None:
    """By the clock, while every change makes the program write the annotation file anew."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(page_of(count))
        with _start("--no-model", str(page), columns=140, lines=45) as terminal:
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
        f"{statistics.median(times):.1f} ms, 95 of 100 under {times[len(times) * 95 // 100]:.1f} ms, "
        f"longest {times[-1]:.1f} ms (load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
    )


def _start(*arguments: str, columns: int = 100, lines: int = 30) -> Terminal:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    return Terminal([sys.executable, str(ROOT / "annotate.py"), *arguments], columns, lines, environment)


# Opening


def measure_opening() -> None:
    """The CPU time from start to end of the program, with a page of 2 MB opened and closed."""
    item = '<div class="item"><h3>Heading {0}</h3><p>{1}<a href="/{0}">text</a> that go on, page {0}.</p></div>\n'
    words = "Some words that stand before the link and fill the page as an article does, line by line and more. "
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
    """Kill it at random moments while keys are typed, and look at what is there."""
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
        print(f"{done} kills: {torn} torn files, {lost} times more than one key lost, at most {most_lost}", flush=True)


def _type_and_kill(page: Path, decided: int, chance: random.Random) -> str:
    """Type until a random moment, then kill; the answer is the keys whose effect was seen, and the next one."""
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
    """Open it again and leave it: what is in the file then is what was kept."""
    with _start("--no-model", str(page)) as terminal:
        terminal.wait_for(" decided", 60)
        terminal.type("q")
        assert terminal.end(seconds=60) == 0
    anno = page.with_suffix(".anno")
    return _letters(anno, cuts) if anno.exists() else ""


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
