"""Panes beside the blocks: the cleaned page, and facts about the block at the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from threading import Thread

from more_itertools import chunked

from victorpy.annotation.session import Session
from victorpy.annotation.tui.text import RIGHT_TO_LEFT, Row, cut, cut_row, text_of, visible, width_of, wrap, wrap_after
from victorpy.document import Document, Label
from victorpy.errors import plural
from victorpy.outputs import OUTPUTS, CleanPage

FORMATS = ("text", "markdown", "cleaneval")
_LEFT_TO_RIGHT = "\u200e"  # prevents terminals that reverse right-to-left text from mixing two panes
_AROUND = 150  # number of blocks that are rendered before and after the cursor, which bounds the cost
_PATIENCE = 0.02  # seconds that a redraw waits for background work; enough for most pages
_MOST_LINES = 4  # maximum number of lines of a fact

Features = Callable[[Document], Sequence[dict[str, str]]]  # returns the features of every block by name


def draw_result(session: Session, format: str, width: int, height: int) -> list[Row]:
    """Draw the cleaned page around the cursor."""
    document, cursor, render = session.document, session.cursor, OUTPUTS.get(format).render
    first = max(cursor - _AROUND, 0)

    def lines_until(stop: int) -> list[str]:
        blocks = document.blocks[first:stop]
        labels = tuple(session.label(block.index) or Label.OTHER for block in blocks)
        text = render(CleanPage(replace(document, blocks=blocks), labels)).rstrip("\n")
        shown = [visible(line.expandtabs(4)) for line in text.split("\n")] if text else []
        return [line[start:end] for line in shown for start, end in wrap(line, width - 1)]

    lines = lines_until(cursor + _AROUND)
    start, end = len(lines_until(cursor)), len(lines_until(cursor + 1))
    label = session.label(cursor) if len(session) else None
    highlighted = range(min(start, end - 1), end) if label is not None and label.is_content else range(0)
    top = max(0, min(end - height // 2, len(lines) - height))
    return [
        [("pane here" if number in highlighted else "pane", line)]
        for number, line in enumerate(lines[top : top + height], top)
    ]


class FactsPane:
    """Facts about the block at the cursor: its place, prediction and features."""

    def __init__(self, session: Session, features: Features | None) -> None:
        self._session = session
        self._features = features
        self._work: Future[tuple[Sequence[str], Sequence[dict[str, str]]]] | None = None
        """Paths and features of all blocks, computed in the background when the pane is first shown."""

    @property
    def is_ready(self) -> bool:
        """Whether the work in the background is done, so that the whole pane can be drawn."""
        return self._work is not None and self._work.done()

    def draw(self, width: int, height: int) -> list[Row]:
        """Draw the pane. Path and features appear when they are ready, because they take long on a large page."""
        if not len(self._session):
            return []
        if self._work is None:
            self._work = Future()
            Thread(target=self._find_paths_and_features, args=[self._work], daemon=True).start()
            wait([self._work], _PATIENCE)
        cursor = self._session.cursor
        is_ready = self._work.done()
        paths, features = self._work.result() if is_ready else ((), ())
        rows: list[Row] = []
        for name, value in self._facts(cursor, paths[cursor] if paths else ""):
            head = cut(f"{visible(name)}: ", width - 1)
            rows += wrap_after(("key", head), visible(value), width)[:_MOST_LINES]
        if not is_ready:
            rows += [[], [("pane", "features: loading …")]]
        elif features:
            values = {name: value for name, value in features[cursor].items() if str(value) not in {"0", "0.0"}}
            texts = [visible(f"{name} {value}") for name, value in values.items()]
            size = min(max((len(text) for text in texts), default=1) + 2, width - 1)
            rows += [[], [("pane head", "features other than 0")]]
            for row in chunked(texts, max((width - 1) // size, 1)):
                rows.append([("pane", "".join(cut(text, size - 1).ljust(size) for text in row))])
        return rows[:height]

    def _find_paths_and_features(self, work: Future[tuple[Sequence[str], Sequence[dict[str, str]]]]) -> None:
        document = self._session.document
        try:
            work.set_result((document.paths(), self._features(document) if self._features else ()))
        except Exception as error:  # raised again when the result is read
            work.set_exception(error)

    def _facts(self, number: int, path: str) -> Iterator[tuple[str, str]]:
        session = self._session
        block = session.document.blocks[number]
        probability = session.predicted.probabilities[number]
        probability_text = f" ({probability:.3f})" if probability is not None else ""
        yield "label", f"{session.label(number) or 'none'}, {session.state(number)}"
        yield "model", f"{session.predicted.labels[number] or 'no prediction'}{probability_text}"
        if probability is not None and probability < 0.5:
            yield "why", "labels are chosen for the whole page, not at 50 %"
        yield "length", f"{plural(len(block.text.split()), 'word')}, {plural(len(block.text), 'character')}"
        if path:
            yield "path", path
        if block.element >= 0:
            yield from (
                (name, value) for name, value in session.document.elements.attributes[block.element].items() if value
            )
        if block.hidden:
            yield "hidden", "not visible on the page"


def join_panes(left: list[Row], right: list[Row], left_width: int, height: int) -> list[Row]:
    """Put two panes beside each other, with a line between them."""
    joined: list[Row] = []
    empty: list[Row] = [[]] * height
    for left_row, right_row in zip((left + empty)[:height], right + empty, strict=False):
        row = cut_row(left_row, left_width)
        gap = " " * (left_width - width_of(text_of(row)))
        is_reversed = RIGHT_TO_LEFT.search(text_of(row))
        line = f"{_LEFT_TO_RIGHT if is_reversed else ''}│ "
        joined.append([*row, ("content", gap), ("rule", line), *right_row])
    return joined
